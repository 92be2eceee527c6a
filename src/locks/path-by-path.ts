import { inParallel } from '../client/in-parallel.ts';
import type { AcquiredLock } from '../client/known-lock.ts';
import type { LeaseRequest, PoolItem } from '../client/leases.ts';
import type { AcquireLockResult, Conflict, Conflicts, LockRequest } from '../client/post-lock.ts';
import type { QueueWait } from '../client/queue.ts';
import type { CallLimits } from '../client/request.ts';
import type { ServiceError } from '../client/service-error.ts';
import { machineClock } from '../client/time.ts';
import { formatDuration } from '../interface/duration.ts';
import type { LockPath } from '../interface/lock-path.ts';
import { type Grant, grantedLock, type Intent, lifetimeMs, parsedTtl } from './ledger/entry.ts';
import { cleanupLimits, type LockContext, rollBack, rollBackMs, type Unreleased } from './release.ts';

/** What a step acquires, and where. */
export interface LockTerms extends Omit<LockRequest, 'wait'> {
  readonly service: string;
  readonly step: string;
}

export interface AcquireContext extends LockContext {
  readonly terms: LockTerms;
  /** Limits of an attempt if `wait` is zero. */
  readonly withoutWait: CallLimits;
  /** Whether waiting is pointless, because a parallel step of the same job holds a path that this step needs. */
  readonly isInVain?: ((conflicts: Conflicts) => Promise<boolean>) | undefined;
}

/** The paths that a step may lock, and how many of them it needs. */
export type AcquireGoal = Pick<LeaseRequest, 'paths' | 'pool' | 'count'>;

/** All locks or none. `grantedAt` is the earliest possible time of the first grant, by the clock of this machine. */
export type AcquireRound =
  | {
      readonly kind: 'acquired';
      readonly grants: readonly Grant[];
      /** The locks as the service returned them. */
      readonly locks: readonly AcquiredLock[];
      /** The locked items of a pool. */
      readonly items: readonly PoolItem[];
      readonly grantedAt: number;
    }
  | { readonly kind: 'held'; readonly conflicts: Conflicts }
  | { readonly kind: 'failed'; readonly error: ServiceError }
  /** A lock ended before the last one was acquired: it expired, or someone released it. */
  | {
      readonly kind: 'too-short';
      readonly expired: { readonly path: LockPath; readonly expires_at: string | undefined };
    }
  | { readonly kind: 'cancelled' };

/**
 * Acquires one lock, or several on a service that knows only the interface: in sorted order, in parallel, all or none.
 * A step that waits for one of several locks holds none of them.
 */
export function acquirePathByPath(context: AcquireContext, goal: AcquireGoal) {
  const { terms, signal, clock, random } = context;
  const { count } = goal;
  const intents = createIntents(context);
  const spare = goal.paths.length - count;
  const isAlone = goal.paths.length === 1;
  const paths = inFirstOrder(goal, random);
  /** Unanswered requests. The next attempt repeats them, and keeps any locks that they were granted. */
  const pending = new Map<LockPath, Intent>();
  const unreleased: Unreleased[] = [];
  let hasAcquired = false;
  let lastConflicts: Conflicts | undefined;

  /** Requests a lock. Keeps the intent if the lock may still be granted. */
  async function acquire(intent: Intent, within: CallLimits, line?: QueueWait): Promise<IntentResult> {
    const { path } = intent;
    const result = await intents.request(intent, within, line);
    hasAcquired ||= result.kind === 'acquired';
    const isRepeated = pending.delete(path);
    // The service cannot say more. If it grants a lock after such a response, that is a new lock with a full ttl.
    const isUnclear = result.kind === 'held' && isRepeated;
    if (result.kind !== 'acquired' && result.mayBeDone && !isUnclear) pending.set(path, intent);
    return result;
  }

  /** Releases the locks, and repeats unanswered requests to release any locks that they acquired. */
  async function giveBack(acquired: readonly Omit<Unreleased, 'error'>[]): Promise<void> {
    const within = cleanupLimits(clock, rollBackMs, signal);
    const left = [...(await rollBack(context, acquired, within))];
    await inParallel([...pending.values()], async (intent) => {
      const result = await acquire(intent, within);
      if (result.kind === 'acquired') left.push(...(await rollBack(context, [result], within)));
    });
    // Keeps only these. An ambiguous one is not retried, because its path may already belong to another job.
    unreleased.push(...left.filter(({ error }) => error !== undefined));
  }

  async function attempt(line: QueueWait | undefined, within: CallLimits): Promise<AcquireRound> {
    if (unreleased.length > 0) await giveBack(unreleased.splice(0));
    let error = unreleased[0]?.error;
    if (error !== undefined) return signal.aborted ? { kind: 'cancelled' } : { kind: 'failed', error };
    const acquired: AcquiredIntent[] = [];
    const conflicts: Conflict[] = [];
    let inFlight = 0;
    const shouldContinue = (): boolean =>
      acquired.length + inFlight < count && conflicts.length <= spare && error === undefined && !signal.aborted;

    async function request(path: LockPath): Promise<void> {
      const intent = pending.get(path) ?? intents.create(path, terms);
      inFlight += 1;
      const result = await acquire(intent, within, isAlone ? line : undefined);
      inFlight -= 1;
      if (result.kind === 'acquired') acquired.push(result);
      else if (result.kind === 'held') conflicts.push(result);
      else error ??= result.error;
    }

    for (const part of inParts(paths, [...pending.keys()], lastConflicts))
      await inParallel(part, request, shouldContinue);
    const expired = acquired.find(({ grant, grantedAt }) => clock() - grantedAt >= lifetimeMs(grant, terms.ttl));
    const isEnough = acquired.length === count && expired === undefined && !signal.aborted;
    // An unanswered request may have acquired an extra lock, which is not in the outputs of the step.
    if (isEnough && pending.size > 0) await giveBack([]);
    if (isEnough && unreleased.length === 0 && !signal.aborted) return roundOf(acquired);
    // If a single lock was granted without a response, the next attempt keeps it.
    if (!isAlone || signal.aborted || acquired.length > 0) await giveBack(acquired);
    if (signal.aborted) return { kind: 'cancelled' };
    // Requests in flight can add more conflicts than there are spare paths: the step waits for the first.
    const [first, ...others] = conflicts;
    if (first !== undefined && others.length >= spare) {
      lastConflicts = [first, ...others.slice(0, spare)];
      return { kind: 'held', conflicts: lastConflicts };
    }
    if (expired !== undefined) return { kind: 'too-short', expired: expired.grant.lock };
    error ??= unreleased[0]?.error;
    if (error === undefined) throw new Error('Locks are missing for an unknown reason.');
    return { kind: 'failed', error };
  }

  return {
    attempt,
    /** Whether any lock was granted, in this attempt or an earlier one. */
    hasAcquired: (): boolean => hasAcquired,
    /** Whether it may hold locks that the next attempt would roll back. */
    mayHold: () => unreleased.length + pending.size > 0,
    /** After the last attempt, settles requests whose result is unknown. */
    end: async (): Promise<void> => (isAlone && pending.size > 0 ? giveBack([]) : undefined),
  };
}

/**
 * Jobs that need all paths request them in sorted order, so that competitors collide on the first path. Jobs that need
 * any N of them use a random order, so that they do not collide.
 */
function inFirstOrder({ paths, count }: AcquireGoal, random: () => number): readonly LockPath[] {
  if (count === paths.length) return paths.toSorted();
  const drawn = paths.map((path) => ({ path, draw: random() }));
  return drawn.toSorted((one, other) => one.draw - other.draw).map(({ path }) => path);
}

/**
 * Paths that were held before come first: while they are held, no other lock needs to be acquired and rolled back. The
 * first attempt starts with a single path, so that only one of several jobs that want the same paths gets it, and the
 * others have nothing to roll back.
 */
function inParts(paths: readonly LockPath[], pending: readonly LockPath[], last: Conflicts | undefined) {
  const held = new Set<string>(last?.map(({ path }) => path) ?? paths.slice(0, 1));
  const first = new Set([...pending, ...paths.filter((path) => held.has(path))]);
  return [[...first], paths.filter((path) => !first.has(path))];
}

type AcquiredIntent = Extract<IntentResult, { readonly kind: 'acquired' }>;

const roundOf = (acquired: readonly AcquiredIntent[]): AcquireRound => ({
  kind: 'acquired',
  grants: acquired.map(({ grant }) => grant),
  locks: acquired.map(({ lock }) => lock),
  items: [],
  grantedAt: Math.min(...acquired.map(({ grantedAt }) => grantedAt)),
});

/** If `mayBeDone` is set, repeat the request with the same intent. */
export type IntentResult =
  /** `grantedAt` is the earliest possible time of the grant, by the clock of this machine. */
  | { readonly kind: 'acquired'; readonly grant: Grant; readonly lock: AcquiredLock; readonly grantedAt: number }
  | Exclude<AcquireLockResult, { readonly kind: 'acquired' }>;

/** Requests single locks. Records each intent in the ledger before its request, and the result afterwards. */
export function createIntents({ client, clock, record }: Pick<LockContext, 'client' | 'clock' | 'record'>) {
  const startedAt = clock();
  /** The keys of this process, and when each was first sent; undefined before that. */
  const sentAt = new Map<string, number | undefined>();
  const now = (): string => new Date(client.serverNow()).toISOString();

  /** A repeated request may return the lock that the first one was granted. `acquired_at` shows whether it did. */
  function earliestGrant(key: string, { acquired_at }: AcquiredLock): number {
    const first = sentAt.get(key) ?? clock();
    const ageMs = client.serverNow() - Date.parse(acquired_at ?? '');
    return Number.isNaN(ageMs) ? first : Math.max(first, clock() - Math.max(0, ageMs));
  }

  return {
    create(path: LockPath, terms: LockTerms): Intent {
      const key = `${terms.step}/${sentAt.size + 1}`;
      const ttl = formatDuration(terms.ttl);
      const intent: Intent = { kind: 'intent', ...terms, path, key, ttl, at: now(), notSentBefore: machineClock() };
      sentAt.set(key, undefined);
      record(intent);
      return intent;
    },

    /** An unanswered request can be repeated with the same intent. */
    async request(intent: Intent, within: CallLimits, line?: QueueWait): Promise<IntentResult> {
      const { service, workspace, path, step, key } = intent;
      // The key of an intent from the ledger may have been sent by another process.
      const isRepeated = !sentAt.has(key) || sentAt.get(key) !== undefined;
      if (!isRepeated) sentAt.set(key, clock());
      const acquisition = await client.acquireLock(
        {
          ...intent,
          ttl: parsedTtl(intent),
          idempotencyKey: key,
          wait: line,
          // A response reveals the clock of the service. Until then, its times and those of the intent do not compare.
          firstSentAt: isRepeated ? () => client.serverNow() - (machineClock() - intent.notSentBefore) : undefined,
        },
        within,
      );
      const ended = { service, workspace, path, key };
      if (acquisition.kind === 'acquired') {
        const { lock } = acquisition;
        const waitedMs = Math.round(clock() - startedAt);
        const known = { waitedMs, lock: grantedLock(lock), at: now() };
        const lastsUntil = machineClock() + Math.floor(lifetimeMs(known, parsedTtl(intent)));
        const grant: Grant = { kind: 'granted', ...ended, step, ...known, lastsUntil };
        record(grant);
        const waits = line !== undefined && line.seconds > 0;
        return { kind: 'acquired', grant, lock, grantedAt: waits ? clock() : earliestGrant(key, lock) };
      }
      if (!acquisition.mayBeDone) record({ kind: 'ended', ...ended, at: now() });
      return acquisition;
    },
  };
}
