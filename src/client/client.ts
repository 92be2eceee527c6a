import { createAskForLock } from './ask.ts';
import { createCall } from './call.ts';
import { openConnection } from './connection.ts';
import type { IdentityCredentials } from './exchange.ts';
import { createLeases } from './leases.ts';
import { createLists } from './lists.ts';
import { createMarks, type MarksStore } from './marks.ts';
import { createAcquireLock, createRenewLock } from './post-lock.ts';
import { createRegisterHook } from './register-hook.ts';
import { createReleaseLock } from './release-lock.ts';
import { type CallOptions, type ClientContext, createEndpoints, theService } from './request.ts';
import { warnOfDeprecation } from './response.ts';
import { createSync } from './sync.ts';
import { createServerClock, sleep, steadyClock } from './time.ts';

export type Client = ReturnType<typeof createClient>;

export interface ClientOptions
  extends Partial<Pick<CallOptions, 'retries' | 'clock' | 'sleep' | 'random' | 'onRetry'>>,
    Pick<ClientContext, 'origin' | 'branch' | 'onCompared'> {
  /** Ends in the API version: `/v1`. */
  readonly baseUrl: string;
  readonly credentials: { readonly kind: 'static'; readonly token: string } | IdentityCredentials;
  readonly userAgent: string;
  readonly requestTimeoutMs?: number | undefined;
  readonly onWarning?: ((sentence: string) => void) | undefined;
  /** Shared with other processes of the job. */
  readonly marks?: MarksStore | undefined;
}

/** A client of the HTTP API. Requests beyond the number of connections are queued. */
export function createClient(options: ClientOptions) {
  const { requestTimeoutMs = 30_000, clock = steadyClock, onWarning = () => undefined } = options;
  const { origin, branch, onCompared } = options;
  const baseUrl = new URL(options.baseUrl);
  const serverClock = createServerClock(clock);
  const marks = createMarks(options.marks);
  const connection = openConnection(baseUrl);
  const closing = new AbortController();

  const endpoints = createEndpoints(baseUrl);
  const shared = {
    baseUrl,
    server: theService,
    clock,
    serverClock,
    send: connection.send,
    timeoutMs: requestTimeoutMs,
    retries: options.retries ?? 4,
    secrets: [],
    headers: {
      accept: 'application/json, application/problem+json',
      'user-agent': options.userAgent,
      ...(origin !== undefined && { referer: origin }),
    },
    sleep: options.sleep ?? sleep,
    random: options.random ?? Math.random,
    closed: closing.signal,
    onResponse: warnOfDeprecation(onWarning),
    onRetry: options.onRetry,
    marks,
  };

  const { credentials } = options;
  const call = createCall(
    credentials.kind === 'static'
      ? {
          ...shared,
          headers: { authorization: `Bearer ${credentials.token}`, ...shared.headers },
          secrets: [credentials.token],
        }
      : {
          ...shared,
          async openTokens() {
            // Loaded only if no token is given.
            const { createTokenSource } = await import('./exchange.ts');
            return createTokenSource(credentials, shared, endpoints.token);
          },
        },
  );
  const context = { call, endpoints, serverNow: serverClock.now, origin, branch, onCompared };

  return {
    ...createLists(context),
    ...createSync(context),
    askForLock: createAskForLock(context),
    ...createLeases(context),
    acquireLock: createAcquireLock(context),
    releaseLock: createReleaseLock(context),
    renewLock: createRenewLock(context),
    registerHook: createRegisterHook(context),

    serverNow: serverClock.now,
    /** Whether the service has shown its marks, so that it has leases. */
    isOurs: marks.areShown,

    dispose(): void {
      closing.abort();
      connection.close();
    },
  };
}
