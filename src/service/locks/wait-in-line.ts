import { randomUUID } from 'node:crypto';
import { Refusal, unavailableRetrySeconds } from '../contract/response.ts';
import type { Database } from '../storage/storage.ts';
import type { LockWaiters } from './local-waiters.ts';
import type { Client, Presence } from './presence.ts';
import { placeInLine } from './queue.ts';
import { type Blocked, orThrow } from './refusals.ts';
import type { LockRequest } from './store-locks.ts';
import { type Place, presenceMs, requestGapMs, type Waited, type WaitOptions } from './wait-terms.ts';

export type WaitInLine = ReturnType<typeof createWaitInLine>;

interface Granted {
  readonly kind: 'granted';
}

/** Waits of clients in line at this instance. */
export function createWaitInLine(read: Database, { wait }: Pick<LockWaiters, 'wait'>, presence: Presence) {
  /** Attempts once, or with options at each turn of the client, until the request is granted or the wait ends. */
  return async function inLine<Grant extends Granted>(
    id: string,
    { workspace, bearer: { owner } }: Pick<LockRequest, 'workspace' | 'bearer'>,
    options: WaitOptions | undefined,
    attempt: (place: Place | undefined, during: During) => Promise<Grant | Blocked | Refusal>,
  ): Promise<Waited<Grant | Blocked>> {
    if (options === undefined) return orThrow(await attempt(undefined, (work) => work()));
    const { seconds, urgency, gone, authenticate } = options;
    const deadline = performance.now() + seconds * 1_000;
    const requestId = randomUUID();
    const client = { id, workspace, requestId, gone, keptAt: performance.now() };
    const place = { requestId, urgency, gone, presentMs: seconds > 0 ? presenceMs : untilRetryMs(placeRetrySeconds) };
    async function decide(isFirst: boolean, during: During): Promise<Grant | Blocked> {
      try {
        if (!isFirst) await authenticate();
        return orThrow(await attempt({ ...place, isFirst }, during));
      } catch (error) {
        if (!isFirst || gone.aborted) await presence.leave(client, presentAfter(error, gone));
        throw error;
      }
    }
    let last = await sinceArrival(presence, client, (during) => decide(true, during));
    let outcome: Awaited<ReturnType<typeof wait>> = 'turn';
    if (last.kind === 'blocked' && seconds > 0) presence.enter(client);
    try {
      while (last.kind === 'blocked' && seconds > 0 && outcome === 'turn') {
        const ms = Math.max(0, deadline - performance.now());
        outcome = await wait({ id, workspace, owner, gone, ms, watched: last.watched });
        if (outcome === 'turn') last = await decide(false, (work) => work());
      }
      if (last.kind === 'granted') return { ...last, waitedSeconds: seconds };
      if (outcome === 'gone') await presence.leave(client, 0);
      // The paths may have changed hands during the wait. If none is in the way, its turn came too late.
      const now = outcome === 'timeout' ? await last.lookAgain(read) : last;
      const queue = await placeInLine(read, id);
      // Too many clients are waiting. A response without `Preference-Applied` tells the client that it did not wait.
      const isFull = outcome === undefined;
      const retryAfterSeconds = isFull ? last.retryAfterSeconds : seconds > 0 ? 0 : placeRetrySeconds;
      // Others look again within requestGapMs, even at a path that was kept for this client: see lookAgainMs(). When this
      // instance stops, the client retries at another one.
      if (isFull || outcome === 'timeout') await presence.leave(client, untilRetryMs(retryAfterSeconds));
      const blocked = now.watched.length > 0 ? now : last;
      return { ...blocked, waitedSeconds: isFull ? undefined : seconds, queue, retryAfterSeconds };
    } finally {
      presence.exit(client);
    }
  };
}

/** For a request that only takes a place: it could be repeated at once, but each repetition is a change. */
const placeRetrySeconds = 1;

/** A client that asks again after the `Retry-After` of its response is not overtaken until then. */
const untilRetryMs = (retryAfterSeconds: number): number => retryAfterSeconds * 1_000 + requestGapMs;

/**
 * Others must not wait for a client that was refused at its turn, or has disconnected, but for one that was told to try
 * again: by a refusal with a `Retry-After`, or after a failure of the database.
 */
function presentAfter(error: unknown, { aborted }: AbortSignal): number {
  if (aborted) return 0;
  const retryAfter = error instanceof Refusal ? error.extras.headers?.['retry-after'] : unavailableRetrySeconds;
  return retryAfter === undefined ? 0 : untilRetryMs(Number(retryAfter));
}

/** Makes the first decision about a request, and keeps its client in the place of an earlier one until then. */
async function sinceArrival<Decision>(
  presence: Presence,
  client: Client,
  decide: (during: During) => Promise<Decision>,
): Promise<Decision> {
  let arrival: Promise<Client | undefined> | undefined;
  async function during<Result>(work: () => Promise<Result>): Promise<Result> {
    const timer = setTimeout(() => {
      arrival = presence.arrive(client);
    }, arrivedMs);
    return work().finally(() => clearTimeout(timer));
  }
  try {
    return await decide(during);
  } catch (error) {
    const presentMs = presentAfter(error, client.gone);
    if (presentMs > 0) arrival ??= presence.arrive(client);
    const earlier = await arrival;
    if (earlier !== undefined) await presence.leave(earlier, presentMs);
    throw error;
  } finally {
    const earlier = await arrival;
    if (earlier !== undefined) presence.exit(earlier);
  }
}

/** Does work that may take seconds before a request can be decided. */
type During = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Far less than requestGapMs. Most requests are decided sooner, and need no extension. */
const arrivedMs = 20;
