import { type Conflict, isTransient, type QueueWait, retryAfterOfError } from '../client/client.ts';
import { formatSpan } from '../interface/duration.ts';
import type { LockPath } from '../interface/lock-path.ts';
import type { LockContext } from './context.ts';
import type { Grant, Intent } from './ledger/entry.ts';
import { type Blocked, blockedText } from './messages.ts';
import type { LockSession, LockTerms, SessionAcquireResult } from './session.ts';

/** Proxies cut connections that are idle for a minute. */
const maxSeconds = 30;

/** For services that do not report places in line: meanwhile, another of the paths may become free. */
const maxSecondsForSome = 5;

/** For paths that may change meanwhile. */
const maxSecondsIfChanging = 10;

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
  /** The goal was refreshed at the end of the wait. */
  readonly isFresh?: boolean;
  /** Undefined if there is a reason to pause before the next round: the wait itself did not take long. */
  readonly next?: NextRound;
  /** The lock may have been granted. */
  readonly unanswered?: Intent | undefined;
}

/** The start of the next round: a lock that was granted at its turn, or the paths to request first. */
export type NextRound =
  | { readonly kind: 'granted'; readonly grant: Grant }
  | { readonly kind: 'turn'; readonly paths: readonly LockPath[] };

interface WaitContext extends Pick<LockContext, 'client' | 'clock' | 'sleep' | 'random' | 'signal' | 'log'> {
  readonly session: LockSession;
  readonly terms: LockTerms;
}

/**
 * Waits in line for the first of the blocked paths, with one request at a time. A service that does not confirm the
 * wait is not asked to wait again. One that does may be restarting, and is asked until it is back.
 */
export function createQueueWait(
  { client, clock, sleep, random, signal, log, session, terms }: WaitContext,
  line: Omit<QueueWait, 'seconds'>,
  /** For paths that may change: refreshes them. True if a new round is worthwhile. */
  haveChanged?: (until: number) => Promise<boolean>,
) {
  let waits = true;
  let quickResponses = 0;
  let timeouts = 0;

  return async (blocked: Blocked, until: number, waitEnds: number): Promise<WaitResult> => {
    const [{ path, hasWaited, queue }] = blocked.conflicts;
    const followsAll = blocked.conflicts.length === 1 || queue !== undefined;
    // While it waits for one path, a step that needs several does not learn that others are free.
    const needsMore = blocked.conflicts.length > 1 && !line.oneIsEnough;
    let failingSince = Number.POSITIVE_INFINITY;
    let intent: Intent | undefined;
    // Several quick grants did not complete the locks: jobs that need the same paths may take them from each other in
    // turn.
    if (quickResponses > maxQuickResponses) {
      quickResponses = 0;
      return {};
    }
    while (waits && hasWaited && !signal.aborted) {
      const began = clock();
      const longest = followsAll ? (haveChanged || needsMore ? maxSecondsIfChanging : maxSeconds) : maxSecondsForSome;
      const seconds = Math.min(longest, Math.floor((until - began) / 1_000));
      if (seconds < 1) break;
      intent ??= session.intend(path, terms);
      const result = await session.acquire(intent, { deadline: until, signal }, { ...line, seconds });
      const isQuick = clock() - began < quickMs;
      const isFailing = gainsNothing(result, isQuick);
      if (!isFailing) quickResponses = isQuick ? quickResponses + 1 : 0;
      if (result.kind === 'unanswered' && result.error.failure.kind === 'timeout') timeouts += 1;
      waits = result.kind !== 'failed' && timeouts < maxTimeouts;
      if (result.kind === 'held') {
        intent = undefined;
        timeouts = 0;
        waits = result.hasWaited;
        if (!waits || quickResponses > maxQuickResponses) return {};
      }
      const next = nextAfter(result, { isFailing, followsAll });
      if (next.kind === 'return') return next.result;
      if (next.kind === 'ask-again') {
        failingSince = Number.POSITIVE_INFINITY;
        if (needsMore) return { next: { kind: 'turn', paths: [path] } };
        if (await haveChanged?.(until)) return { next: { kind: 'turn', paths: [path] }, isFresh: true };
        const left = formatSpan((waitEnds - clock()) / 1_000);
        log.line(`${blockedText(withConflict(blocked, next.held), client.serverNow(), true)}. Waiting, ${left} left.`);
        continue;
      }
      failingSince = Math.min(failingSince, clock());
      if (clock() - failingSince >= maxFailingMs) return { next: { kind: 'turn', paths: [path] }, unanswered: intent };
      const pauseMs = minReconnectMs + random() * (maxReconnectMs - minReconnectMs);
      await sleep(Math.min(Math.max(next.afterMs, pauseMs), until - clock()), signal);
    }
    return { unanswered: intent };
  };
}

/** Whether the path was neither granted nor really waited for: our service answers all waiting requests when it stops. */
const gainsNothing = (result: SessionAcquireResult, isQuick: boolean): boolean =>
  result.kind === 'unanswered' ||
  (result.kind === 'held' && isQuick && result.queue !== undefined && result.turn.length === 0);

interface Waited {
  readonly isFailing: boolean;
  readonly followsAll: boolean;
}

function nextAfter(result: SessionAcquireResult, { isFailing, followsAll }: Waited) {
  const end = (ended: WaitResult) => ({ kind: 'return', result: ended }) as const;
  switch (result.kind) {
    case 'acquired':
      return end({ next: { kind: 'granted', grant: result.grant } });
    case 'failed':
      return end({});
    case 'unanswered':
      return result.conflict !== undefined || !isTransient(result.error)
        ? end({ unanswered: result.intent })
        : ({ kind: 'retry', afterMs: retryAfterOfError(result.error) ?? 0 } as const);
    case 'held':
      if (result.turn.length > 0) return end({ next: { kind: 'turn', paths: result.turn } });
      if (!followsAll) return end({});
      return isFailing ? ({ kind: 'retry', afterMs: 0 } as const) : ({ kind: 'ask-again', held: result } as const);
  }
}

/** Updates the first of the conflicts. */
const withConflict = ({ conflicts: [, ...others], ...blocked }: Blocked, conflict: Conflict): Blocked => ({
  ...blocked,
  conflicts: [conflict, ...others],
});
