import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Duration, milliseconds } from '../interface/duration.ts';
import { createApi } from './api/api.ts';
import { startBackgroundWork } from './background-work.ts';
import { createDashboard } from './dashboard/dashboard.ts';
import { sessionSecretIn } from './dashboard/frame/session.ts';
import type { Git } from './git/git.ts';
import { byBearerOrPassword } from './http/access.ts';
import { createApp } from './http/app.ts';
import { createClientAddress } from './http/client-address.ts';
import { createRateLimiter, type RateLimit } from './http/rate-limit.ts';
import { reportEvents } from './http/report-events.ts';
import { createRequestScheduler, measureCost } from './http/request-scheduler.ts';
import { startServer } from './http/server.ts';
import { createIdempotency } from './idempotency/idempotency.ts';
import { createRememberedLimit } from './idempotency/remembered-limit.ts';
import { createCompare } from './latest/compare.ts';
import { createReleaseMerged } from './latest/release-merged.ts';
import { createAskUpstream } from './lfs/fetch/ask-upstream.ts';
import { createFetchObjects } from './lfs/fetch/fetch-objects.ts';
import { createLfs } from './lfs/lfs.ts';
import { createObjectMaintenance } from './lfs/object-maintenance.ts';
import { createObjectStore, removeObjects } from './lfs/object-store.ts';
import { sendRefusal } from './lfs/responses.ts';
import { addressKey, createUrlSigner } from './lfs/signed-url.ts';
import { roomIn } from './lfs/usage.ts';
import { foldHeldPaths } from './locks/fold-held-paths.ts';
import type { LockQuotas } from './locks/lock-quota.ts';
import { createLocks } from './locks/locks.ts';
import { maxWaitSeconds } from './locks/waiters.ts';
import { defaultMirrorLimits, type MirrorLimits } from './mirror/limits.ts';
import { createMirror } from './mirror/mirror.ts';
import { asTextToGit } from './mirror/responses.ts';
import type { TargetCheck } from './outbound/target-address.ts';
import { type HookQuotas, setHookQuotas } from './outbox/hook-quotas.ts';
import type { Cidr } from './platform/ip-address.ts';
import type { FreeDisk } from './runtime/free-disk.ts';
import type { Metrics } from './runtime/metrics.ts';
import { throttle } from './runtime/throttle.ts';
import { startWorker } from './runtime/worker.ts';
import type { Retention } from './storage/remove-old.ts';
import type { Storage } from './storage/storage.ts';
import { createMirrorMaintenance } from './syncs/mirror-maintenance.ts';
import { type ClaimedSync, claimSync, type SyncEnd } from './syncs/queue.ts';
import { runSync } from './syncs/run-sync.ts';
import { createSyncSlots, maxParallelSyncs } from './syncs/sync-slots.ts';
import { createPrepareSync } from './syncs/trigger.ts';
import { createLastUse } from './tokens/last-use.ts';
import { createExchangeToken } from './trust/exchange.ts';
import { startDeliveries } from './webhooks/delivery-worker.ts';
import { createRemoteMemory } from './workspaces/remote-memory.ts';
import { createRemotes } from './workspaces/remotes.ts';
import { createSuggestPaths } from './workspaces/suggest-paths.ts';

export interface ServiceOptions extends HookQuotas, LockQuotas, Retention {
  readonly storage: Storage;
  readonly git: Git;
  readonly dataFolder: string;
  /** Environment of the operator: LFS downloads trust the CAs that git trusts with it. */
  readonly environment: NodeJS.ProcessEnv;
  readonly targets: TargetCheck;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly host: string;
  readonly port: number;
  readonly allowFileRemotes: boolean;
  readonly windowsPaths: boolean;
  /** Time to keep accepting connections after /readyz starts failing, until proxies stop opening them. */
  readonly drainDelay: Duration;
  readonly drainTimeout: Duration;
  readonly syncTimeout: Duration;
  readonly parallelSyncs: number;
  /** Maximum number of clients that receive objects of mirrors at the same time. */
  readonly parallelClones: number;
  readonly mirrorLimits?: Partial<MirrorLimits>;
  readonly freeDisk: FreeDisk;
  /** Limit for all remembered responses to requests with an Idempotency-Key. */
  readonly maxRememberedBytes: number;
  readonly rateLimit: RateLimit;
  readonly trustedProxies: readonly Cidr[];
  readonly version: string;
  /** Returns the public origin of the service for its port; undefined if unknown. */
  readonly publicUrl?: (port: number) => string | undefined;
}

export interface Service {
  readonly port: number;
  stop(): Promise<void>;
}

const pollMs = 500;

/** On a full disk, all background work fails several times a second, and the log may be on the same disk. */
const failedWork = { max: 5, everyMs: 30_000 };

/**
 * Starts an instance: it answers requests, and shares syncs and deliveries with all other instances on its database.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { storage, git, metrics, log, freeDisk, windowsPaths } = options;
  const reportFailure = throttle(failedWork, () => performance.now());
  const onError = (error: unknown): void =>
    reportFailure((after) => log.error({ err: error, ...after }, 'background work failed; it will be retried'));

  const stopping = new AbortController();
  let isDraining = false;
  await setHookQuotas(storage, options);
  const urlSigner = createUrlSigner(await addressKey(storage), Date.now);
  if (windowsPaths) await foldHeldPaths(storage);
  const deliveries = startDeliveries({ ...options, pollMs, onError });
  const scheduler = createRequestScheduler({
    credentialOf: (incoming) => byBearerOrPassword.tokenIn(incoming.headers.authorization) ?? sessionSecretIn(incoming),
    addressOf: createClientAddress(options.trustedProxies),
  });
  const remembered = createRememberedLimit(options);
  const idempotency = createIdempotency(storage, remembered.add);
  const locks = createLocks({
    storage,
    idempotency,
    quotas: options,
    windowsPaths,
    metrics,
    measureCost: (tokenIds, work) => measureCost(scheduler, tokenIds, work),
    onError,
  });
  const objectsOf = (workspace: string) => createObjectStore(options.dataFolder, workspace);
  const remotes = createRemotes({ git, allowFile: options.allowFileRemotes });
  const remoteMemory = createRemoteMemory({ storage, remotes, stopping: stopping.signal });
  const objectMaintenance = createObjectMaintenance({
    storage,
    git,
    remoteMemory,
    objectsOf,
    metrics,
    log,
    signal: stopping.signal,
    onError,
  });
  const mirrorMaintenance = createMirrorMaintenance({
    git,
    log,
    parallel: options.parallelSyncs,
    signal: stopping.signal,
  });
  const syncRun = {
    ...options,
    releaseMerged: createReleaseMerged({ storage, git, locks, onError }),
    fetchObjects: createFetchObjects({ ...options, roomIn: (workspace) => roomIn(storage, workspace) }),
    timeoutMs: milliseconds(options.syncTimeout),
    maintainSoon(workspace: string, end: SyncEnd) {
      mirrorMaintenance.soon(workspace);
      // Skipped for the many syncs without new LFS objects, because maintenance reads the folder of each object.
      if (end.kind === 'succeeded' && end.lfs.received.objects > 0) objectMaintenance.lookSoon(workspace);
    },
  };
  const syncSlots = createSyncSlots<ClaimedSync>(options.parallelSyncs);
  const syncs = startWorker({
    parallel: maxParallelSyncs(options.parallelSyncs),
    pollMs,
    onError,
    claim: async () => (freeDisk.isLow() ? undefined : syncSlots.claim((except) => claimSync(storage, { except }))),
    run: (sync, stopping) =>
      runSync(syncRun, sync, stopping, (isQuiet) => {
        syncSlots.setQuiet(sync, isQuiet);
        if (isQuiet) syncs.wake();
      }).finally(() => syncSlots.free(sync)),
  });
  storage.onQueued('syncs', syncs.wake);
  const lastUse = createLastUse(storage, () => performance.now());
  const backgroundWork = startBackgroundWork({
    ...options,
    lastUse,
    locks,
    remembered,
    objectMaintenance,
    signal: stopping.signal,
    onError,
  });

  let { port } = options;
  const publicUrl = () => options.publicUrl?.(port);
  const parts = {
    ...options,
    exchangeToken: createExchangeToken({ ...options, publicUrl, clock: () => performance.now() }),
    rateLimiter: createRateLimiter(options.rateLimit, () => performance.now()),
    scheduler,
    noteUse: lastUse.note,
    idempotent: idempotency.idempotent,
    locks,
    compare: createCompare({ storage, git, remoteMemory, windowsPaths, onError }),
    prepareSync: createPrepareSync({ storage, git, remotes, remoteMemory }),
    remoteMemory,
    remotes,
    // Remaining files are removed at the next start.
    removeFiles: async (workspace: string) =>
      void (await Promise.allSettled([git.forget(workspace), removeObjects(options.dataFolder, workspace)])),
    suggestPaths: createSuggestPaths({ storage, git, remoteMemory }),
    mirrorLimits: { ...defaultMirrorLimits, parallelClones: options.parallelClones, ...options.mirrorLimits },
    publicUrl,
    objectsOf,
    urlSigner,
    askUpstream: createAskUpstream(options),
    isStopping: () => isDraining,
    stopping: stopping.signal,
  };
  const app = createApp(
    parts,
    [createApi(parts), createLfs(parts), createMirror(parts), createDashboard(parts)],
    asTextToGit(sendRefusal),
  );

  const stopWork = async () => {
    stopping.abort();
    const running = [syncs, mirrorMaintenance, deliveries, locks, freeDisk, backgroundWork];
    await Promise.all(running.map((work) => work.stop()));
  };
  try {
    const server = await startServer(app, options.host, port, {
      scheduler,
      // Connections of requests that wait for a path have no traffic.
      timeouts: { silenceMs: 2 * maxWaitSeconds * 1_000 },
      events: reportEvents(log, metrics, () => performance.now()),
    });
    port = server.port;
    void objectMaintenance.maintainAll();
    return {
      port,
      async stop() {
        isDraining = true;
        const delayMs = milliseconds(options.drainDelay);
        await sleep(delayMs);
        stopping.abort();
        locks.endWaits();
        await server.close({ idleMs: delayMs, requestsMs: milliseconds(options.drainTimeout) });
        await stopWork();
      },
    };
  } catch (error) {
    await stopWork();
    throw error;
  }
}
