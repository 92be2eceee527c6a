import {
  type CallLimits,
  type Conflict,
  inParallel,
  isTransient,
  lastAttemptMs,
  type QueueWait,
  retryAfterOfError,
  type ServiceError,
  type Urgency,
} from '../client/client.ts';
import { type Duration, formatSpan, milliseconds } from '../interface/duration.ts';
import type { LockPath } from '../interface/lock-path.ts';
import type { LockContext } from './context.ts';
import type { Grant, Intent } from './ledger/entry.ts';
import { type Blocked, blockedText } from './messages.ts';
import { pauseMs, soonestRetryMs } from './pause.ts';
import {
  keepOrRollBack,
  type RollbackResult,
  remainingRollback,
  rollBackInTime,
  rollBackMs,
  stuckAfter,
  type UnsettledLocks,
  unsettledAfter,
} from './roll-back.ts';
import type { LockSession, LockTerms } from './session.ts';
import { createQueueWait, type NextRound } from './wait-in-line.ts';

/** The paths that a step may lock, and the number that it needs. */
interface AcquireGoal {
  readonly paths: readonly LockPath[];
  readonly count: number;
}

/** The result of one round: all locks, or none. */
type RoundResult = { readonly back: RollbackResult } & (
  | { readonly kind: 'acquired'; readonly grants: readonly Grant[] }
  | { readonly kind: 'held'; readonly blocked: Blocked }
  | { readonly kind: 'failed'; readonly error: ServiceError }
  /** A lock expired before the last one was acquired. */
  | { readonly kind: 'too-short'; readonly ended: Grant }
  | { readonly kind: 'cancelled' }
);

export interface AcquireAllResult {
  readonly round: RoundResult;
  readonly waitedMs: number;
  readonly lastBlocked: Blocked | undefined;
  /** Unanswered requests of all rounds. They may have been granted. */
  readonly unanswered: readonly Intent[];
}

interface AcquireContext extends Omit<LockContext, 'record'> {
  readonly session: LockSession;
  readonly terms: LockTerms;
  /** The limits if `wait` is zero. */
  readonly withoutWait: CallLimits;
  /** Returns the goal as it is now, for a goal that may change during the wait. Its count stays the same. */
  readonly refresh?: ((within: CallLimits) => Promise<AcquireGoal>) | undefined;
}

/** Lets a waiting step notice within 300 ms that the service is back. */
const maxWaitingBackoffMs = 250;

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
  const { client, clock, sleep, random, signal, log, withoutWait, refresh } = context;
  const began = clock();
  const deadline = began + milliseconds(wait);
  const line = { oneIsEnough: oneIsEnough(goal, 0), urgency };
  const waitInLine = createQueueWait(context, line, refresh && hasGoalChanged);
  let wanted = inFirstOrder(goal, random);
  let lastBlocked: Blocked | undefined;
  let next: NextRound | undefined;
  /** Leftovers of the previous round, which would block the next one. */
  let unsettled: UnsettledLocks = { acquired: [], unanswered: [] };
  /** The unanswered requests of all rounds, by key. */
  const unanswered = new Map<string, Intent>();

  for (let number = 0; ; number += 1) {
    const roundBegan = clock();
    // The first round gets at least the time of a step without a wait, minus the time for a rollback.
    const roundEnds = number === 0 ? Math.max(deadline, withoutWait.deadline - rollBackMs) : deadline;
    const maxBackoffMs = lastBlocked && maxWaitingBackoffMs;
    const plan = {
      ...{ wanted, unsettled, order: orderOf(wanted.paths, lastBlocked, next) },
      inHand: next?.kind === 'granted' ? [next.grant] : [],
      urgency: wait.seconds > 0 ? urgency : undefined,
    };
    const round = await acquireOrRollBack(context, plan, { deadline: roundEnds, signal, maxBackoffMs });
    remember(round);
    const waitedMs = number === 0 ? 0 : clock() - began;
    const result: AcquireAllResult = { round, waitedMs, lastBlocked, unanswered: [...unanswered.values()] };

    // During the wait, a path may have left the goal.
    if (round.kind === 'acquired' && number > 0 && !(await areWanted(round.grants))) {
      unsettled = { ...unsettled, acquired: round.grants };
      next = undefined;
      continue;
    }
    const mayRetry = round.kind === 'held' || (round.kind === 'failed' && isTransient(round.error));
    const reservedMs = lastAttemptMs(clock() - roundBegan);
    const left = deadline - clock();
    if (!mayRetry || left <= reservedMs) return result;

    const reason =
      round.kind === 'held' ? `${blockedText(round.blocked, client.serverNow(), true)}.` : round.error.message;
    log.line(`${reason} Waiting, ${formatSpan(left / 1_000)} left.`);
    const retryAfterMs = round.kind === 'held' ? soonestRetryMs(round.blocked) : retryAfterOfError(round.error);
    await waitForNextRound(deadline - reservedMs, number, retryAfterMs);
  }

  function remember(round: RoundResult): void {
    for (const { key } of unsettled.unanswered) unanswered.delete(key);
    for (const { intent } of round.back.unanswered) unanswered.set(intent.key, intent);
    unsettled = unsettledAfter(round.back);
    if (round.kind === 'held') lastBlocked = round.blocked;
  }

  /** Waits in line if possible. Otherwise it pauses, unless new paths were added. */
  async function waitForNextRound(until: number, number: number, retryAfterMs: number | undefined): Promise<void> {
    // A step that waits in line holds nothing, and would not know its own lock from a new one.
    const isSettled = unsettled.acquired.length + unsettled.unanswered.length === 0;
    const waited = isSettled && lastBlocked !== undefined ? await waitInLine(lastBlocked, until, deadline) : undefined;
    if (waited?.unanswered !== undefined) {
      unanswered.set(waited.unanswered.key, waited.unanswered);
      unsettled = { ...unsettled, unanswered: [...unsettled.unanswered, waited.unanswered] };
    }
    next = waited?.next;
    if (next?.kind === 'granted' || waited?.isFresh) return;
    if ((await hasGoalChanged(until)) || next !== undefined) return;
    await sleep(Math.min(pauseMs(isSettled ? number : 0, retryAfterMs, random), until - clock()), signal);
  }

  /** Whether paths were added, or one that others hold was removed. */
  async function hasGoalChanged(until: number): Promise<boolean> {
    const known = new Set(wanted.paths);
    const blocked = lastBlocked;
    await refreshGoal(until);
    return lastBlocked !== blocked || wanted.paths.some((path) => !known.has(path));
  }

  /** A goal that could no longer be met stays as it was. */
  async function refreshGoal(until: number): Promise<void> {
    const current = await refresh?.({ deadline: until, signal });
    if (current === undefined || current.paths.length < current.count) return;
    wanted = inFirstOrder(current, random);
    if (lastBlocked?.conflicts.some(({ path }) => !wanted.paths.includes(path))) lastBlocked = undefined;
  }

  async function areWanted(grants: readonly Grant[]): Promise<boolean> {
    try {
      await refreshGoal(deadline);
      return grants.every(({ path }) => wanted.paths.includes(path));
    } catch (error) {
      await rollBackInTime(context, { acquired: grants, unanswered: [] });
      throw error;
    }
  }
}

interface Order {
  readonly decisive: readonly LockPath[];
  readonly rest: readonly LockPath[];
}

interface Round {
  readonly wanted: AcquireGoal;
  readonly order: Order;
  readonly unsettled: UnsettledLocks;
  /** Locks that were granted during the wait, before which all was settled. */
  readonly inHand: readonly Grant[];
  /** Undefined if the step does not wait in line. */
  readonly urgency: Urgency | undefined;
}

/**
 * Acquires the wanted number of locks, or rolls back. Requests run in parallel, decisive paths first, and never for
 * more locks than are missing. They stop as soon as the round cannot succeed.
 */
async function acquireOrRollBack(
  context: AcquireContext,
  { wanted, order: { decisive, rest }, unsettled, inHand, urgency }: Round,
  within: CallLimits,
): Promise<RoundResult> {
  const { client, session, terms, signal } = context;
  const before = await rollBackInTime(context, unsettled);
  const stuck = stuckAfter(before);
  if (stuck !== undefined) return { kind: signal.aborted ? 'cancelled' : 'failed', error: stuck, back: before };

  const acquired: Grant[] = [...inHand];
  const unanswered: Intent[] = [];
  const conflicts: Conflict[] = [];
  let error: ServiceError | undefined;
  let inFlight = 0;
  const shouldContinue = (): boolean =>
    acquired.length + inFlight < wanted.count &&
    conflicts.length <= spareOf(wanted) &&
    error === undefined &&
    !signal.aborted;
  for (const paths of [decisive, rest]) {
    await inParallel(
      paths,
      async (path) => {
        // A wait of 0 s takes a place in line with the first refusal.
        const line: QueueWait | undefined = urgency && {
          seconds: 0,
          oneIsEnough: oneIsEnough(wanted, acquired.length),
          urgency,
        };
        inFlight += 1;
        const result = await session.acquire(session.intend(path, terms), within, line);
        inFlight -= 1;
        if (result.kind === 'acquired') {
          acquired.push(result.grant);
          return;
        }
        if (result.kind === 'unanswered') unanswered.push(result.intent);
        const inTheWay = result.kind === 'unanswered' ? result.conflict : result.kind === 'held' ? result : undefined;
        if (inTheWay === undefined) error ??= result.error;
        else conflicts.push(inTheWay);
      },
      shouldContinue,
    );
  }

  const ended = acquired.find(({ lock }) => Date.parse(lock.expires_at) <= client.serverNow());
  const isEnough = acquired.length === wanted.count && ended === undefined && !signal.aborted;
  const { kept, back: after } = isEnough
    ? await keepOrRollBack(context, { acquired, unanswered })
    : { kept: false, back: await rollBackInTime(context, { acquired, unanswered }) };
  const back = { ...after, unanswered: [...before.unanswered, ...after.unanswered] };
  if (kept) return { kind: 'acquired', grants: acquired, back };
  if (signal.aborted) return { kind: 'cancelled', back };
  const blocked = blockedBy(conflicts, wanted);
  if (blocked !== undefined) return { kind: 'held', blocked, back };
  if (error !== undefined) return { kind: 'failed', error, back };
  if (ended !== undefined) return { kind: 'too-short', ended, back };
  const excess = remainingRollback(back)[0]?.error;
  if (excess !== undefined) return { kind: 'failed', error: excess, back };
  throw new Error('Locks are missing for an unknown reason.');
}

/** Undefined if enough paths may be free. */
function blockedBy([first, ...others]: readonly Conflict[], wanted: AcquireGoal): Blocked | undefined {
  const spare = spareOf(wanted);
  if (first === undefined || others.length < spare) return undefined;
  // More conflicts than spare paths come from requests that were already running: the step waits for the first ones.
  return { conflicts: [first, ...others.slice(0, spare)], count: wanted.count, of: wanted.paths.length };
}

/**
 * Jobs that need all paths ask in sorted order, so that competitors collide on the first path. Jobs that need any N of
 * them ask in random order: otherwise all would collide on the first.
 */
const inFirstOrder = (goal: AcquireGoal, random: () => number): AcquireGoal => ({
  ...goal,
  paths: spareOf(goal) === 0 ? goal.paths.toSorted() : shuffled(goal.paths, random),
});

/** Whether one more lock is all that is missing: its grant ends the place in line at once, which delays others less. */
const oneIsEnough = (wanted: AcquireGoal, acquired: number): boolean => acquired === wanted.count - 1;

/** The number of paths that the step can do without. */
const spareOf = ({ paths, count }: AcquireGoal): number => paths.length - count;

function shuffled<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  const drawn = items.map((item) => ({ item, draw: random() }));
  return drawn.toSorted((one, other) => one.draw - other.draw).map(({ item }) => item);
}

/**
 * Paths that were held come first: while they are, no other lock needs to be acquired and rolled back. The first round
 * starts with a single path: of several jobs that want the same paths, one gets it, and the others have nothing to roll
 * back.
 */
function orderOf(paths: readonly LockPath[], blocked: Blocked | undefined, next: NextRound | undefined): Order {
  const granted = next?.kind === 'granted' ? next.grant.path : undefined;
  const turn = new Set(next?.kind === 'turn' ? next.paths : []);
  const missing = paths.filter((path) => path !== granted);
  const held = blocked?.conflicts.map(({ path }) => path) ?? paths.slice(0, 1);
  const first = new Set([...missing.filter((path) => turn.has(path)), ...held.filter((path) => path !== granted)]);
  return { decisive: [...first], rest: missing.filter((path) => !first.has(path)) };
}
