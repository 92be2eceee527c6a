import { type Conflict, isTransient, type QueueWait, retryAfterOfError } from '../client/client.ts';
import type { Intent } from './ledger/entry.ts';
import type { Blocked } from './messages.ts';
import type { RoundContext, RoundStart } from './round.ts';
import type { SessionAcquireResult } from './session.ts';

/** Proxies cut connections that are idle for a minute. */
const defaultMaxSeconds = 30;

/** For services that do not report places in line: meanwhile, another of the paths may become free. */
const maxSecondsForSome = 5;

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
 * Waits in line once for the first of the blocked paths, with one request at a time. A service that does not confirm the
 * wait is not asked to wait again. One that does may be restarting, and is asked until it is back.
 */
export function createQueueWait(
  { clock, sleep, random, signal, session, terms }: RoundContext,
  line: Omit<QueueWait, 'seconds'>,
) {
  let waits = true;
  let quickResponses = 0;
  let timeouts = 0;

  return async (blocked: Blocked, until: number, maxSeconds = defaultMaxSeconds): Promise<WaitResult> => {
    const [{ path, hasWaited, queue }] = blocked.conflicts;
    const coversAllPaths = blocked.conflicts.length === 1 || queue !== undefined;
    let failingSince = Number.POSITIVE_INFINITY;
    let intent: Intent | undefined;
    // Several quick grants did not complete the locks: jobs that need the same paths may take them from each other in
    // turn.
    if (quickResponses > maxQuickResponses) {
      quickResponses = 0;
      return {};
    }
    while (waits && hasWaited && !signal.aborted) {
      const startedAt = clock();
      const longest = coversAllPaths ? maxSeconds : maxSecondsForSome;
      const seconds = Math.min(longest, Math.floor((until - startedAt) / 1_000));
      if (seconds < 1) break;
      intent ??= session.intend(path, terms);
      const result = await session.acquire(intent, { deadline: until, signal }, { ...line, seconds });
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
      const end = endAfter(result, { isFailing, coversAllPaths });
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
  result.kind === 'unanswered' ||
  (result.kind === 'held' && isQuick && result.queue !== undefined && result.turn.length === 0);

interface Waited {
  readonly isFailing: boolean;
  readonly coversAllPaths: boolean;
}

/** Undefined if the request is to be sent again. */
function endAfter(result: SessionAcquireResult, { isFailing, coversAllPaths }: Waited): WaitResult | undefined {
  switch (result.kind) {
    case 'acquired':
      return { start: { kind: 'granted', grant: result.grant } };
    case 'failed':
      return {};
    case 'unanswered':
      return result.conflict !== undefined || !isTransient(result.error) ? { unanswered: result.intent } : undefined;
    case 'held':
      if (result.turn.length > 0) return { start: { kind: 'first', paths: result.turn } };
      if (!coversAllPaths) return {};
      return isFailing ? undefined : { held: result };
  }
}
