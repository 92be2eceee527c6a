import {
  type CallLimits,
  type Conflict,
  isTransient,
  lastAttemptMs,
  retryAfterOfError,
  type Urgency,
} from '../client/client.ts';
import { type Duration, formatSpan, milliseconds } from '../interface/duration.ts';
import type { Intent } from './ledger/entry.ts';
import { type Blocked, blockedText } from './messages.ts';
import { pauseMs, soonestRetryMs } from './pause.ts';
import { rollBackMs, type UnsettledLocks, unsettledAfter } from './roll-back.ts';
import {
  type AcquireGoal,
  acquireOrRollBack,
  inFirstOrder,
  type RoundContext,
  type RoundResult,
  type RoundStart,
} from './round.ts';
import { createQueueWait } from './wait-in-line.ts';

export interface AcquireAllResult {
  readonly round: RoundResult;
  readonly waitedMs: number;
  readonly lastBlocked: Blocked | undefined;
  /** Unanswered requests of all rounds. They may have been granted. */
  readonly unanswered: readonly Intent[];
}

export interface AcquireContext extends RoundContext {
  /** The limits if `wait` is zero. */
  readonly withoutWait: CallLimits;
  /** Whether waiting cannot help, because a parallel step of the same job holds a path that this one needs. */
  readonly isInVain?: (() => Promise<boolean>) | undefined;
}

/** Lets a waiting step notice within 300 ms that the service is back. */
const maxWaitingBackoffMs = 250;

export interface WaitOptions {
  readonly wait: Duration;
  readonly urgency: Urgency;
}

/**
 * Acquires one lock or, on a service that knows only the interface, several, path by path. Retries until they are
 * acquired or the wait has ended. One deadline covers everything.
 */
export async function acquireLocks(
  context: AcquireContext,
  goal: AcquireGoal,
  { wait, urgency }: WaitOptions,
): Promise<AcquireAllResult> {
  const { client, clock, sleep, random, signal, log, withoutWait, isInVain = async () => false } = context;
  const startedAt = clock();
  const deadline = startedAt + milliseconds(wait);
  const waitInLine = createQueueWait(context, urgency);
  const wanted = inFirstOrder(goal, random);
  let lastBlocked: Blocked | undefined;
  let start: RoundStart | undefined;
  /** Leftovers of the previous round, which would block the next one. */
  let unsettled: UnsettledLocks = { acquired: [], unanswered: [] };
  /** The unanswered requests of all rounds, by key. */
  const unanswered = new Map<string, Intent>();

  for (let number = 0; ; number += 1) {
    const roundStartedAt = clock();
    // The first round gets at least the time of a step without a wait, minus the time for a rollback.
    const roundEnds = number === 0 ? Math.max(deadline, withoutWait.deadline - rollBackMs) : deadline;
    const maxBackoffMs = lastBlocked && maxWaitingBackoffMs;
    const plan = { wanted, lastBlocked, unsettled, start, urgency: wait.seconds > 0 ? urgency : undefined };
    const round = await acquireOrRollBack(context, plan, { deadline: roundEnds, signal, maxBackoffMs });
    remember(round);
    const waitedMs = number === 0 ? 0 : clock() - startedAt;
    const result: AcquireAllResult = { round, waitedMs, lastBlocked, unanswered: [...unanswered.values()] };
    const mayRetry = round.kind === 'held' || (round.kind === 'failed' && isTransient(round.error));
    const reservedMs = lastAttemptMs(clock() - roundStartedAt);
    if (!mayRetry || deadline - clock() <= reservedMs) return result;
    if (round.kind === 'held' && (await isInVain())) return result;

    logWait(round.kind === 'held' ? round.blocked : round.error.message);
    const retryAfterMs = round.kind === 'held' ? soonestRetryMs(round.blocked) : retryAfterOfError(round.error);
    await waitForNextRound(deadline - reservedMs, number, retryAfterMs);
  }

  function remember(round: RoundResult): void {
    for (const { key } of unsettled.unanswered) unanswered.delete(key);
    for (const { intent } of round.rollback.unanswered) unanswered.set(intent.key, intent);
    unsettled = unsettledAfter(round.rollback);
    if (round.kind === 'held') lastBlocked = round.blocked;
  }

  function logWait(reason: Blocked | string): void {
    const text = typeof reason === 'string' ? reason : `${blockedText(reason, client.serverNow(), true)}.`;
    log.line(`${text} Waiting, ${formatSpan((deadline - clock()) / 1_000)} left.`);
  }

  /** Waits in line for one lock, if the service has one, until it is granted. Otherwise it pauses. */
  async function waitForNextRound(until: number, number: number, retryAfterMs: number | undefined): Promise<void> {
    // A step that waits in line holds nothing, and would not know its own lock from a new one.
    const isSettled = unsettled.acquired.length + unsettled.unanswered.length === 0;
    start = undefined;
    while (isSettled && wanted.paths.length === 1 && lastBlocked !== undefined) {
      const waited = await waitInLine(lastBlocked, until);
      start = waited.start;
      if (waited.unanswered !== undefined) {
        unanswered.set(waited.unanswered.key, waited.unanswered);
        unsettled = { ...unsettled, unanswered: [waited.unanswered] };
      }
      // The next round says so.
      if (start !== undefined || (await isInVain())) return;
      if (waited.held === undefined) break;
      lastBlocked = withConflict(lastBlocked, waited.held);
      logWait(lastBlocked);
    }
    await sleep(Math.min(pauseMs(isSettled ? number : 0, retryAfterMs, random), until - clock()), signal);
  }
}

/** Updates the first of the conflicts. */
const withConflict = ({ conflicts: [, ...others], ...blocked }: Blocked, conflict: Conflict): Blocked => ({
  ...blocked,
  conflicts: [conflict, ...others],
});
