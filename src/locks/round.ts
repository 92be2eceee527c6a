import { type CallLimits, type Conflict, inParallel, type ServiceError, type Urgency } from '../client/client.ts';
import type { LockPath } from '../interface/lock-path.ts';
import type { LockContext } from './context.ts';
import { type Grant, type Intent, lifetimeMs } from './ledger/entry.ts';
import type { Blocked } from './messages.ts';
import {
  keepOrRollBack,
  type RollbackResult,
  remainingRollback,
  rollBackInTime,
  stuckAfter,
  type UnsettledLocks,
} from './roll-back.ts';
import type { LockSession, LockTerms } from './session.ts';

/** The paths that a step may lock, and the number that it needs. */
export interface AcquireGoal {
  readonly paths: readonly LockPath[];
  readonly count: number;
}

/** The start of a round: a lock that was granted in line, or the paths to request first. */
export type RoundStart =
  | { readonly kind: 'granted'; readonly grant: Grant }
  | { readonly kind: 'first'; readonly paths: readonly LockPath[] };

export interface Round {
  /** In the order of its requests. */
  readonly wanted: AcquireGoal;
  /** Why the previous round failed, if it did. */
  readonly lastBlocked: Blocked | undefined;
  /** Leftovers of the previous round, which would block this one. There are none if a lock was granted in line. */
  readonly unsettled: UnsettledLocks;
  readonly start: RoundStart | undefined;
  /** Undefined if the step does not wait in line. */
  readonly urgency: Urgency | undefined;
}

/** The result of one round: all locks, or none. */
export type RoundResult = { readonly rollback: RollbackResult } & (
  | { readonly kind: 'acquired'; readonly grants: readonly Grant[] }
  | { readonly kind: 'held'; readonly blocked: Blocked }
  | { readonly kind: 'failed'; readonly error: ServiceError }
  /** A lock expired before the last one was acquired. */
  | { readonly kind: 'too-short'; readonly expired: { readonly path: LockPath; readonly expires_at: string } }
  | { readonly kind: 'cancelled' }
);

export interface RoundContext extends Omit<LockContext, 'record'> {
  readonly session: LockSession;
  readonly terms: LockTerms;
}

/**
 * Acquires the wanted number of locks, or rolls back. Requests run in parallel, decisive paths first, and never for
 * more locks than are missing. They stop as soon as the round cannot succeed.
 */
export async function acquireOrRollBack(
  context: RoundContext,
  { wanted, lastBlocked, unsettled, start, urgency }: Round,
  within: CallLimits,
): Promise<RoundResult> {
  const { session, terms, signal } = context;
  const before = await rollBackInTime(context, unsettled);
  const stuck = stuckAfter(before);
  if (stuck !== undefined) return { kind: signal.aborted ? 'cancelled' : 'failed', error: stuck, rollback: before };

  const { decisive, rest } = orderOf(wanted.paths, lastBlocked, start);
  const acquired: Grant[] = start?.kind === 'granted' ? [start.grant] : [];
  const unanswered: Intent[] = [];
  const conflicts: Conflict[] = [];
  let error: ServiceError | undefined;
  let inFlight = 0;
  const shouldContinue = (): boolean =>
    acquired.length + inFlight < wanted.count &&
    conflicts.length <= spareOf(wanted) &&
    error === undefined &&
    !signal.aborted;

  async function acquire(path: LockPath): Promise<void> {
    // A wait of 0 s takes a place in line with the first refusal. There is none for several paths.
    const line = wanted.paths.length === 1 ? urgency && { seconds: 0, urgency } : undefined;
    inFlight += 1;
    const result = await session.acquire(session.intend(path, terms), within, line);
    inFlight -= 1;
    if (result.kind === 'acquired') {
      acquired.push(result.grant);
      return;
    }
    if (result.kind === 'unanswered') unanswered.push(result.intent);
    const conflict = result.kind === 'unanswered' ? result.conflict : result.kind === 'held' ? result : undefined;
    if (conflict === undefined) error ??= result.error;
    else conflicts.push(conflict);
  }

  for (const paths of [decisive, rest]) await inParallel(paths, acquire, shouldContinue);

  const expired = acquired.find((grant) => session.ageMs(grant) >= lifetimeMs(grant, terms.ttl));
  const isEnough = acquired.length === wanted.count && expired === undefined && !signal.aborted;
  const { kept, rollback: after } = isEnough
    ? await keepOrRollBack(context, { acquired, unanswered })
    : { kept: false, rollback: await rollBackInTime(context, { acquired, unanswered }) };
  const rollback = { ...after, unanswered: [...before.unanswered, ...after.unanswered] };
  if (kept) return { kind: 'acquired', grants: acquired, rollback };
  if (signal.aborted) return { kind: 'cancelled', rollback };
  const blocked = blockedBy(conflicts, wanted);
  if (blocked !== undefined) return { kind: 'held', blocked, rollback };
  if (error !== undefined) return { kind: 'failed', error, rollback };
  if (expired !== undefined) {
    return { kind: 'too-short', expired: { path: expired.path, expires_at: expired.lock.expires_at }, rollback };
  }
  const excess = remainingRollback(rollback)[0]?.error;
  if (excess !== undefined) return { kind: 'failed', error: excess, rollback };
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
export const inFirstOrder = (goal: AcquireGoal, random: () => number): AcquireGoal => ({
  ...goal,
  paths: spareOf(goal) === 0 ? goal.paths.toSorted() : shuffled(goal.paths, random),
});

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
function orderOf(paths: readonly LockPath[], blocked: Blocked | undefined, start: RoundStart | undefined) {
  const granted = start?.kind === 'granted' ? start.grant.path : undefined;
  const preferred = new Set(start?.kind === 'first' ? start.paths : []);
  const missing = paths.filter((path) => path !== granted);
  const held = blocked?.conflicts.map(({ path }) => path) ?? paths.slice(0, 1);
  const first = new Set([...missing.filter((path) => preferred.has(path)), ...held.filter((path) => path !== granted)]);
  return { decisive: [...first], rest: missing.filter((path) => !first.has(path)) };
}
