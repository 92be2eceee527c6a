import {
  type CallLimits,
  type Conflict,
  isTransient,
  lastAttemptMs,
  listOnPaths,
  lookupIn,
  retryAfterOfError,
  type Urgency,
} from '../client/client.ts';
import { type Duration, formatSpan, milliseconds } from '../interface/duration.ts';
import type { LockPath } from '../interface/lock-path.ts';
import type { Grant, Intent } from './ledger/entry.ts';
import { type Blocked, blockedText } from './messages.ts';
import { pauseMs, soonestRetryMs } from './pause.ts';
import { rollBackInTime, rollBackMs, type UnsettledLocks, unsettledAfter } from './roll-back.ts';
import {
  type AcquireGoal,
  acquireOrRollBack,
  inFirstOrder,
  oneIsEnough,
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

interface AcquireContext extends RoundContext {
  /** The limits if `wait` is zero. */
  readonly withoutWait: CallLimits;
  /** Returns the goal as it is now, for a goal that may change during the wait. Its count stays the same. */
  readonly refresh?: ((within: CallLimits) => Promise<AcquireGoal>) | undefined;
  /** Whether waiting cannot help, because a parallel step of the same job holds a path that this one needs. */
  readonly isInVain?: (() => Promise<boolean>) | undefined;
}

/** Lets a waiting step notice within 300 ms that the service is back. */
const maxWaitingBackoffMs = 250;

/** How often a step that waits in line reads the goal, or the locks on the other paths that it waits for. */
const secondsBetweenReads = 10;

/** A path without a holder is kept for the first in line, often for long: only every sixth read counts it as free. */
const readsPerKeptPath = 6;

/** Meanwhile, the step is not in line. */
const maxListMs = 10_000;

interface WaitOptions {
  readonly wait: Duration;
  readonly urgency: Urgency;
}

/** Retries until the locks are acquired or the wait has ended. One deadline covers everything. */
export async function acquireLocks(
  context: AcquireContext,
  goal: AcquireGoal,
  { wait, urgency }: WaitOptions,
): Promise<AcquireAllResult> {
  const { client, clock, sleep, random, signal, log, withoutWait, refresh, isInVain = async () => false } = context;
  const startedAt = clock();
  const deadline = startedAt + milliseconds(wait);
  const needsOne = oneIsEnough(goal, 0);
  const waitInLine = createQueueWait(context, { oneIsEnough: needsOne, urgency });
  let wanted = inFirstOrder(goal, random);
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

    if (round.kind === 'acquired' && number > 0) {
      await refreshOrRollBack(round.grants);
      const current = new Set(wanted.paths);
      // During the wait, a path may have left the goal.
      if (!round.grants.every(({ path }) => current.has(path))) {
        unsettled = { ...unsettled, acquired: round.grants };
        start = undefined;
        continue;
      }
    }
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

  /** Waits in line, if possible, until a round may succeed. Otherwise it pauses. */
  async function waitForNextRound(until: number, number: number, retryAfterMs: number | undefined): Promise<void> {
    // A step that waits in line holds nothing, and would not know its own lock from a new one.
    const isSettled = unsettled.acquired.length + unsettled.unanswered.length === 0;
    for (let read = 1; ; read += 1) {
      const blocked = isSettled ? lastBlocked : undefined;
      // A step that needs several locks waits for one, and is not notified when another path is free.
      const others = needsOne || blocked === undefined ? [] : blocked.conflicts.slice(1);
      const maxSeconds = refresh || others.length > 0 ? secondsBetweenReads : undefined;
      const held = await waitOnce(blocked, until, maxSeconds);
      if (start?.kind === 'granted') return;
      const isRefreshed = await refreshGoal(until);
      if (isRefreshed || start !== undefined) return;
      if (blocked === undefined || held === undefined) break;
      // The next round says so.
      if (await isInVain()) return;
      const mayBeFree = others.filter(({ holder }) => holder !== undefined || read % readsPerKeptPath === 0);
      const free = await findFree(context, mayBeFree, until);
      if (free.length > 0) {
        start = { kind: 'first', paths: free };
        return;
      }
      lastBlocked = withConflict(blocked, held);
      logWait(lastBlocked);
    }
    await sleep(Math.min(pauseMs(isSettled ? number : 0, retryAfterMs, random), until - clock()), signal);
  }

  /** Returns the conflict if the path is still held after the full wait, and the step can wait again. */
  async function waitOnce(
    blocked: Blocked | undefined,
    until: number,
    maxSeconds: number | undefined,
  ): Promise<Conflict | undefined> {
    const waited = blocked === undefined ? {} : await waitInLine(blocked, until, maxSeconds);
    if (waited.unanswered !== undefined) {
      unanswered.set(waited.unanswered.key, waited.unanswered);
      unsettled = { ...unsettled, unanswered: [waited.unanswered] };
    }
    start = waited.start;
    return waited.held;
  }

  /** True if paths were added, or one that others hold was removed. A goal that could no longer be met stays. */
  async function refreshGoal(until: number): Promise<boolean> {
    const current = await refresh?.({ deadline: until, signal });
    if (current === undefined || current.paths.length < current.count) return false;
    const known = new Set(wanted.paths);
    wanted = inFirstOrder(current, random);
    const left = new Set(wanted.paths);
    const isUnblocked = lastBlocked?.conflicts.some(({ path }) => !left.has(path)) === true;
    if (isUnblocked) lastBlocked = undefined;
    return isUnblocked || wanted.paths.some((path) => !known.has(path));
  }

  async function refreshOrRollBack(grants: readonly Grant[]): Promise<void> {
    try {
      await refreshGoal(deadline);
    } catch (error) {
      await rollBackInTime(context, { acquired: grants, unanswered: [] });
      throw error;
    }
  }
}

/** The paths without a lock, including those whose locks cannot be listed. */
async function findFree(
  { client, clock, signal, terms }: AcquireContext,
  conflicts: readonly Conflict[],
  until: number,
): Promise<readonly LockPath[]> {
  const paths = conflicts.map(({ path }) => path);
  const within = { deadline: Math.min(until, clock() + maxListMs), signal, maxBackoffMs: maxWaitingBackoffMs };
  const lookup = await lookupIn(listOnPaths(client, terms.workspace, paths, within));
  return paths.filter((path) => lookup(path).kind !== 'locked');
}

/** Updates the first of the conflicts. */
const withConflict = ({ conflicts: [, ...others], ...blocked }: Blocked, conflict: Conflict): Blocked => ({
  ...blocked,
  conflicts: [conflict, ...others],
});
