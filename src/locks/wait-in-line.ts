import { type Conflict, isTransient, retryAfterOfError, type Urgency } from '../client/client.ts';
import type { Intent } from './ledger/entry.ts';
import type { Blocked } from './messages.ts';
import type { RoundContext, RoundStart } from './round.ts';
import type { SessionAcquireResult } from './session.ts';

/** Proxies cut connections that are idle for a minute. */
const maxSeconds = 30;

/** A faster response suggests that the service did not wait. */
const quickMs = 1_000;
const maxQuickResponses = 3;

/** A service may confirm a wait of 0 s, but never respond to longer ones. */
const maxTimeouts = 3;

/** Lets a step notice within 300 ms that the service is back. */
const minReconnectMs = 100;
const maxReconnectMs = 200;

/**
 * A gateway may reject only the requests that wait. After this time without success, the step requests the lock itself.
 */
const maxFailingMs = 30_000;

interface WaitResult {
  /** The start of the next round. Undefined if there is a reason to pause before it: the wait itself did not take long. */
  readonly start?: RoundStart;
  /** After the full wait, the path is still held, and the step can wait again. */
  readonly held?: Conflict;
  /** The lock may have been granted. */
  readonly unanswered?: Intent | undefined;
}

/**
 * Waits in line once for the blocked path, with one request at a time. A service that does not confirm the wait is not
 * asked to wait again. One that does may be restarting, and is asked until it is back.
 */
export function createQueueWait({ clock, sleep, random, signal, session, terms }: RoundContext, urgency: Urgency) {
  let waits = true;
  let quickResponses = 0;
  let timeouts = 0;

  return async (blocked: Blocked, until: number): Promise<WaitResult> => {
    const [{ path, hasWaited }] = blocked.conflicts;
    let failingSince = Number.POSITIVE_INFINITY;
    let intent: Intent | undefined;
    if (quickResponses > maxQuickResponses) {
      quickResponses = 0;
      return {};
    }
    while (waits && hasWaited && !signal.aborted) {
      const startedAt = clock();
      const seconds = Math.min(maxSeconds, Math.floor((until - startedAt) / 1_000));
      if (seconds < 1) break;
      intent ??= session.intend(path, terms);
      const result = await session.acquire(intent, { deadline: until, signal }, { urgency, seconds });
      const isQuick = clock() - startedAt < quickMs;
      const isFailing = hasNoProgress(result, isQuick);
      if (!isFailing) quickResponses = isQuick ? quickResponses + 1 : 0;
      if (result.kind === 'unanswered' && result.error.failure.kind === 'timeout') timeouts += 1;
      waits = result.kind !== 'failed' && timeouts < maxTimeouts;
      if (result.kind === 'held') {
        intent = undefined;
        timeouts = 0;
        waits = result.hasWaited;
        if (!waits || quickResponses > maxQuickResponses) return {};
      }
      const end = endAfter(result, isFailing);
      if (end !== undefined) return end;
      failingSince = Math.min(failingSince, clock());
      if (clock() - failingSince >= maxFailingMs)
        return { start: { kind: 'first', paths: [path] }, unanswered: intent };
      const pauseMs = minReconnectMs + random() * (maxReconnectMs - minReconnectMs);
      const retryAfterMs = result.kind === 'unanswered' ? (retryAfterOfError(result.error) ?? 0) : 0;
      await sleep(Math.min(Math.max(retryAfterMs, pauseMs), until - clock()), signal);
    }
    return { unanswered: intent };
  };
}

/** Whether the path was neither granted nor really waited for: our service answers all waiting requests when it stops. */
const hasNoProgress = (result: SessionAcquireResult, isQuick: boolean): boolean =>
  result.kind === 'unanswered' || (result.kind === 'held' && isQuick && result.queue !== undefined);

/** Undefined if the request is to be sent again. */
function endAfter(result: SessionAcquireResult, isFailing: boolean): WaitResult | undefined {
  switch (result.kind) {
    case 'acquired':
      return { start: { kind: 'granted', grant: result.grant } };
    case 'failed':
      return {};
    case 'unanswered':
      return result.conflict !== undefined || !isTransient(result.error) ? { unanswered: result.intent } : undefined;
    case 'held':
      return isFailing ? undefined : { held: result };
  }
}
