import type { Duration } from '../interface/duration.ts';
import { byBearerOrPassword, createRateLimiter, type RateLimit } from './access/access.ts';
import type { ApiParts } from './api/operation.ts';
import { createClientAddress } from './http/client-address.ts';
import { createRequestLimit } from './http/request-limit.ts';
import { createIdempotency } from './idempotency/idempotency.ts';
import type { Instance } from './instance/instance.ts';
import { createCompare } from './latest/compare.ts';
import { createFetchObjects } from './lfs/fetch-objects.ts';
import { createObjectStore, type StoreOwner } from './lfs/object-store.ts';
import { createUrlSigner, urlKey } from './lfs/signed-url.ts';
import type { LockQuotas } from './locks/lock-quota.ts';
import { createLocks } from './locks/locks.ts';
import { createPullThrough } from './mirror/pull-through.ts';
import type { MirrorLimits } from './mirror/serve.ts';
import type { Cidr } from './platform/ip-address.ts';
import { throttle } from './runtime/limit-rate.ts';
import { sessionSecretIn } from './sessions/session-cookie.ts';
import { openDatabaseClock } from './storage/timestamp.ts';
import { createPrepareSync } from './syncs/trigger.ts';
import { secretHash } from './tokens/secret.ts';
import { createExchangeToken } from './trust/exchange.ts';
import { createRemotes } from './workspaces/remotes.ts';

export interface ServiceOptions extends Instance {
  readonly host: string;
  readonly port: number;
  /** How long to accept connections after /readyz starts failing, until proxies stop opening them. */
  readonly drainDelay: Duration;
  readonly drainTimeout: Duration;
  /** Undefined: forever. */
  readonly keepAudit: Duration | undefined;
  readonly quotas?: Partial<LockQuotas>;
  readonly mirrorLimits?: Partial<MirrorLimits>;
  readonly rateLimit: RateLimit;
  readonly trustedProxies: readonly Cidr[];
  /** Returns the public origin of the service for its port; undefined if unknown. */
  readonly publicUrl: (port: number) => string | undefined;
}

export type ServiceParts = Awaited<ReturnType<typeof createParts>>;

/** On a full disk, all background work fails several times a second, and the log may be on that disk. */
const failedWork = { max: 5, everyMs: 30_000 };

/** The parts of an instance, for its requests and its background work. */
export async function createParts(
  options: ServiceOptions,
  instance: Pick<ApiParts, 'publicUrl' | 'isStopping'> & { readonly stopping: AbortSignal },
) {
  const { storage, log } = options;
  const reportFailure = throttle(failedWork);
  const onError = (error: unknown): void =>
    reportFailure((after) =>
      log.error({ err: error, ...after }, 'internal operation failed; background work will be retried'),
    );
  const requestLimit = createRequestLimit({
    credentialOf(incoming) {
      const secret = byBearerOrPassword.tokenIn(incoming.headers.authorization) ?? sessionSecretIn(incoming);
      return secret && secretHash(secret);
    },
    addressOf: createClientAddress(options.trustedProxies),
  });
  const databaseClock = await openDatabaseClock(storage);
  const idempotency = createIdempotency(storage);
  const fetchObjects = createFetchObjects(options);
  const shared = {
    ...options,
    ...instance,
    databaseClock,
    onError,
    requestLimit,
    idempotent: idempotency.idempotent,
    locks: createLocks({ ...options, idempotency, onError }),
    remotes: createRemotes({ ...options, ...instance }),
    fetchObjects,
    pullThrough: createPullThrough({ ...options, ...instance, fetchObjects }),
    objectsOf: (workspace: StoreOwner) => createObjectStore(options.dataFolder, workspace),
    rateLimiter: createRateLimiter(options.rateLimit),
    urlSigner: createUrlSigner(await urlKey(storage), databaseClock.now),
  };
  return {
    ...shared,
    exchangeToken: createExchangeToken(shared),
    compare: createCompare(shared),
    prepareSync: createPrepareSync(shared),
  };
}
