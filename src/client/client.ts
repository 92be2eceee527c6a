import { createAcquireLock } from './acquire-lock.ts';
import { addressesBelow } from './addresses.ts';
import { readAnswer } from './answer.ts';
import { createCall, type Retry } from './call.ts';
import { type Clock, createServerClock, steadyClock } from './clock.ts';
import { maxConnections, openConnection } from './connection.ts';
import { warnOfDeprecation } from './deprecation.ts';
import { createLists } from './lists.ts';
import { createGetOwner } from './owner.ts';
import { createRegisterHook } from './register-hook.ts';
import { createReleaseLock } from './release-lock.ts';
import { createRenewLock } from './renew-lock.ts';
import { createSync } from './sync.ts';
import { sleep } from './time-limit.ts';
import { createWaitForRelease } from './wait-for-release.ts';

export type { TakenLock } from './acquire-lock.ts';
export type { Retry, Within } from './call.ts';
export { type Clock, steadyClock } from './clock.ts';
export type { KnownLock } from './known-lock.ts';
export type { LockFilter, NamedEntry } from './lists.ts';
export type { List } from './pages.ts';
export { isTransient } from './retry.ts';
export { ServiceError } from './service-error.ts';
export type { StartedSync, SyncAddress, SyncReport } from './sync.ts';
export { sleep } from './time-limit.ts';
export { parseWorkspaceId, type WorkspaceId } from './workspace-id.ts';

export interface ClientOptions {
  /** Ends in the version of the interface: `/v1`. */
  readonly baseUrl: string;
  readonly token: string;
  readonly userAgent: string;
  /** Sent as Referer: where the requests come from. */
  readonly origin?: string | undefined;
  /** For each attempt. */
  readonly requestTimeoutMs?: number | undefined;
  /** Attempts after the first. */
  readonly retries?: number | undefined;
  readonly clock?: Clock | undefined;
  /** The clock of the server less ours, where it is known before the first answer. */
  readonly serverAheadMs?: number | undefined;
  /** Ends early, without an error, when the signal is aborted. */
  readonly sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
  /** From 0 up to 1. */
  readonly random?: (() => number) | undefined;
  readonly onWarning?: ((sentence: string) => void) | undefined;
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  /** Little of the rate limit remains, so the next request waits for so long. */
  readonly onThrottled?: ((delayMs: number) => void) | undefined;
}

export type Client = ReturnType<typeof createClient>;

/** The interface over HTTP. Requests beyond the number of connections wait for their turn. */
export function createClient(options: ClientOptions) {
  const { requestTimeoutMs = 30_000, clock = steadyClock, onWarning = () => undefined } = options;
  const baseUrl = new URL(options.baseUrl);
  const serverClock = createServerClock(clock, options.serverAheadMs);
  const connection = openConnection(baseUrl);
  const closing = new AbortController();

  const call = createCall({
    baseUrl,
    clock,
    serverClock,
    send: async (request, signal, texts) => readAnswer(await connection.send(request, signal), texts),
    timeoutMs: requestTimeoutMs,
    maxConnections,
    retries: options.retries ?? 4,
    secrets: [options.token],
    headers: {
      authorization: `Bearer ${options.token}`,
      accept: 'application/json, application/problem+json',
      'accept-encoding': 'identity',
      'user-agent': options.userAgent,
      ...(options.origin !== undefined && { referer: options.origin }),
    },
    sleep: options.sleep ?? sleep,
    random: options.random ?? Math.random,
    closed: closing.signal,
    onAnswer: warnOfDeprecation(onWarning),
    onRetry: options.onRetry ?? (() => undefined),
    onThrottled: options.onThrottled ?? (() => undefined),
  });
  const context = { call, addresses: addressesBelow(baseUrl), baseUrl, clock, serverNow: serverClock.now };

  return {
    ...createLists(context),
    ...createSync(context),
    acquireLock: createAcquireLock(context),
    releaseLock: createReleaseLock(context),
    renewLock: createRenewLock(context),
    /** Never throws: a caller that gets no answer polls instead. */
    waitForRelease: createWaitForRelease(context),
    registerHook: createRegisterHook(context),
    getOwner: createGetOwner(context),

    /** By the clock of the server, as its last answer told it. */
    serverNow: serverClock.now,

    /** Ends whatever is under way, and closes the connections. */
    dispose(): void {
      closing.abort();
      connection.close();
    },
  };
}
