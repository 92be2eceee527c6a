import { inParallel } from '../client/in-parallel.ts';
import type { AcquiredLock } from '../client/known-lock.ts';
import type { PoolItem, PoolSelection } from '../client/leases.ts';
import type { Conflict } from '../client/post-lock.ts';
import type { QueueWait } from '../client/queue.ts';
import type { CallLimits } from '../client/request.ts';
import type { ServiceError } from '../client/service-error.ts';
import type { LockPath } from '../interface/lock-path.ts';
import type { LockContext, LockTerms } from './context.ts';
import { type Grant, type Intent, lifetimeMs } from './ledger/entry.ts';
import type { Blocked } from './messages.ts';
import { cleanupLimits, type Left, retriable, rollBack, rollBackMs } from './rollback.ts';
import type { LockSession, SessionAcquireResult } from './session.ts';

export interface PathContext extends LockContext {
  readonly session: LockSession;
  readonly terms: LockTerms;
}

/** The paths that a step may lock, and the number that it needs. */
export interface AcquireGoal {
  readonly paths: readonly LockPath[];
  /** Its items are acquired instead of paths. */
  readonly pool?: PoolSelection | undefined;
  readonly count: number;
}

/** All locks, or none. `grantedAt`: the earliest time of the first grant, by the clock of this machine. */
export type AcquireRound = { readonly left: readonly Left[] } & (
  | {
      readonly kind: 'acquired';
      readonly grants: readonly Grant[];
      /** As the service returned them. */
      readonly locks: readonly AcquiredLock[];
      /** The locked items of a pool. */
      readonly items: readonly PoolItem[];
      readonly grantedAt: number;
    }
  | { readonly kind: 'held'; readonly blocked: Blocked }
  | { readonly kind: 'failed'; readonly error: ServiceError }
  /** A lock ended before the last one was acquired: it expired, or someone released it. */
  | {
      readonly kind: 'too-short';
      readonly expired: { readonly path: LockPath; readonly expires_at: string | undefined };
    }
  | { readonly kind: 'cancelled' }
);

/**
 * Acquires one lock, or several on a service that knows only the interface: sorted, in parallel, all or none. A step that
 * waits for one of several holds none of them.
 */
export function acquirePathByPath(context: PathContext, goal: AcquireGoal) {
  const { session, terms, signal, clock, random } = context;
  const { count } = goal;
  const spare = goal.paths.length - count;
  const isAlone = goal.paths.length === 1;
  const paths = inFirstOrder(goal, random);
  /** Unanswered requests. The next attempt repeats them, and keeps what they were granted. */
  const pending = new Map<LockPath, Intent>();
  /** Unanswered requests about which the service cannot say more. */
  const unclear: Intent[] = [];
  const unreleased: Grant[] = [];
  let blocked: Blocked | undefined;

  /** Requests the lock of an intent, and keeps the intent if it may still be granted. */
  async function acquire(intent: Intent, within: CallLimits, line?: QueueWait): Promise<SessionAcquireResult> {
    const { path } = intent;
    const result = await session.acquire(intent, within, line);
    const isRepeated = pending.delete(path);
    if (result.kind === 'acquired' || !result.mayBeDone) return result;
    // A lock that is granted after such a response is a new one: its ttl does not start with the first request.
    if (result.kind === 'held' && isRepeated) unclear.push(intent);
    else pending.set(path, intent);
    return result;
  }

  /** Releases the locks, and any that an unanswered request turns out to have acquired when it is repeated. */
  async function giveBack(acquired: readonly Grant[]): Promise<readonly Left[]> {
    const within = cleanupLimits(clock, rollBackMs, signal);
    const left = [...(await rollBack(context, acquired, within))];
    await inParallel([...pending.values()], async (intent) => {
      const result = await acquire(intent, within);
      if (result.kind === 'acquired') left.push(...(await rollBack(context, [result.grant], within)));
    });
    // Only these: a released path may already be another job's.
    unreleased.push(...retriable(left).map(({ grant }) => grant));
    return left;
  }

  async function attempt(line: QueueWait | undefined, within: CallLimits): Promise<AcquireRound> {
    const before = unreleased.length > 0 ? await giveBack(unreleased.splice(0)) : [];
    const [stuck] = retriable(before);
    if (stuck !== undefined) return { kind: signal.aborted ? 'cancelled' : 'failed', error: stuck.error, left: before };
    const acquired: Extract<SessionAcquireResult, { kind: 'acquired' }>[] = [];
    const conflicts: Conflict[] = [];
    let error: ServiceError | undefined;
    let inFlight = 0;
    const shouldContinue = (): boolean =>
      acquired.length + inFlight < count && conflicts.length <= spare && error === undefined && !signal.aborted;

    async function request(path: LockPath): Promise<void> {
      const intent = pending.get(path) ?? session.intend(path, terms);
      inFlight += 1;
      const result = await acquire(intent, within, isAlone ? line : undefined);
      inFlight -= 1;
      if (result.kind === 'acquired') acquired.push(result);
      else if (result.kind === 'held') conflicts.push(result);
      else error ??= result.error;
    }

    for (const part of inParts(paths, [...pending.keys()], blocked)) await inParallel(part, request, shouldContinue);
    const grants = acquired.map(({ grant }) => grant);
    const expired = acquired.find(({ grant, grantedAt }) => clock() - grantedAt >= lifetimeMs(grant, terms.ttl));
    const isEnough = acquired.length === count && expired === undefined && !signal.aborted;
    // An unanswered request may have been granted more than the step wants, which is not in its outputs.
    const excess = isEnough && pending.size > 0 ? await giveBack([]) : [];
    if (isEnough && unreleased.length === 0 && !signal.aborted) {
      const first = Math.min(...acquired.map(({ grantedAt }) => grantedAt));
      const locks = acquired.map(({ lock }) => lock);
      return { kind: 'acquired', grants, locks, items: [], grantedAt: first, left: excess };
    }
    // A single lock that was granted without a response is kept by the next attempt.
    const rest = !isAlone || signal.aborted || acquired.length > 0 ? await giveBack(grants) : [];
    const left = [...excess, ...rest];
    if (signal.aborted) return { kind: 'cancelled', left };
    const nowBlocked = blockedBy(conflicts, goal);
    blocked = nowBlocked ?? blocked;
    if (nowBlocked !== undefined) return { kind: 'held', blocked: nowBlocked, left };
    if (expired !== undefined) return { kind: 'too-short', expired: expired.grant.lock, left };
    error ??= retriable(left)[0]?.error;
    if (error === undefined) throw new Error('Locks are missing for an unknown reason.');
    return { kind: 'failed', error, left };
  }

  return {
    attempt,
    /** Whether it may hold locks that the next attempt gives back. */
    mayHold: () => unreleased.length + pending.size > 0,
    /** Settles what is unclear after the last attempt. */
    end: async (): Promise<readonly Left[]> => (isAlone && pending.size > 0 ? giveBack([]) : []),
    unanswered: (): readonly Intent[] => [...unclear, ...pending.values()],
  };
}

/** Undefined if enough paths may be free. */
function blockedBy([first, ...others]: readonly Conflict[], { paths, count }: AcquireGoal): Blocked | undefined {
  const spare = paths.length - count;
  if (first === undefined || others.length < spare) return undefined;
  // More conflicts than spare paths come from requests that were already running: the step waits for the first ones.
  return { conflicts: [first, ...others.slice(0, spare)], count, of: paths.length };
}

/**
 * Jobs that need all paths ask in sorted order, so that competitors collide on the first path. Jobs that need any N of
 * them ask in random order, so that they do not.
 */
function inFirstOrder({ paths, count }: AcquireGoal, random: () => number): readonly LockPath[] {
  if (count === paths.length) return paths.toSorted();
  const drawn = paths.map((path) => ({ path, draw: random() }));
  return drawn.toSorted((one, other) => one.draw - other.draw).map(({ path }) => path);
}

/**
 * Paths that were held come first: while they are, no other lock needs to be acquired and rolled back. The first attempt
 * starts with a single path: of several jobs that want the same paths, one gets it, and the others have nothing to roll
 * back.
 */
function inParts(paths: readonly LockPath[], pending: readonly LockPath[], blocked: Blocked | undefined) {
  const held = new Set<string>(blocked?.conflicts.map(({ path }) => path) ?? paths.slice(0, 1));
  const first = new Set([...pending, ...paths.filter((path) => held.has(path))]);
  return [[...first], paths.filter((path) => !first.has(path))];
}
