import type { Client } from '../../client/client.ts';
import { inParallel } from '../../client/in-parallel.ts';
import type { AcquiredLock } from '../../client/known-lock.ts';
import type { CallLimits, Failed } from '../../client/request.ts';
import { machineClock } from '../../client/time.ts';
import { formatDuration } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Grant } from '../ledger/entry.ts';
import type { LockTerms } from '../path-by-path.ts';
import type { LockContext } from '../release.ts';
import { followLocks, type LocksToFollow, type RenewalEndReason } from './follow-locks.ts';
import type { Schedule } from './schedule.ts';

/** The locks of a step, and the dependencies of their renewal. */
interface LocksToRenew extends LocksToFollow, Pick<LockContext, 'record'>, Pick<LockTerms, 'ttl'> {
  readonly client: Pick<Client, 'renewLock' | 'releaseLock' | 'renewLease' | 'serverNow'>;
  /** Called once, if there are locks to renew at the start. */
  readonly onStart: () => void;
  /** Calls `look` after each change of the ledger, and periodically. Returns a stop function. */
  readonly watch: (look: () => void) => () => void;
  /** The lock whose first renewal had no response. */
  readonly unanswered?: LockPath | undefined;
  readonly schedule: Schedule;
}

/** Renews the locks of a step according to its ledger, until the job ends or no locks are left. */
export async function renewLocks(locks: LocksToRenew): Promise<RenewalEndReason> {
  const { client, sleep, record, onStart, watch, schedule, service, workspace, step, maxDays } = locks;
  const followed = followLocks(locks);
  const renewRound = createRound(locks, followed);
  const stopWatching = watch(followed.look);
  try {
    followed.look();
    if (followed.end() === undefined) onStart();
    for (;;) {
      const end = followed.end();
      if (end === 'too-old') {
        const at = new Date(client.serverNow()).toISOString();
        const reason = `The locks of a step are renewed for at most ${maxDays} days.`;
        record({ kind: 'unrenewed', service, workspace, step, at, reason });
      }
      if (end !== undefined) return end;
      await sleep(schedule.msUntilNextRound(followed.remaining()), followed.ending);
      followed.look();
      if (followed.end() === undefined) await renewRound();
      followed.look();
    }
  } finally {
    stopWatching();
  }
}

/** The result of one request, for one lock or for all locks of a lease. */
interface Renewed {
  readonly expiresAt?: string;
  /** By the clock of the machine. */
  readonly renewedUntil?: number;
  /** Paths of held locks that were not renewed. */
  readonly except?: readonly string[];
  readonly failed?: Failed;
}

/** Renews each lock once, and records the results in the ledger. */
function createRound(locks: LocksToRenew, followed: ReturnType<typeof followLocks>) {
  const { client, clock, record, service, workspace, step, ttl, schedule } = locks;
  const job = { service, workspace, step };
  /** Paths of locks whose last renewal had no response. */
  const unanswered = new Set(locks.unanswered === undefined ? [] : [locks.unanswered]);
  let isFailing = false;

  async function renewRound(): Promise<void> {
    const startedAt = clock();
    const grants = followed.remaining();
    const results = await inParallel(
      [...Map.groupBy(grants, ({ lock, key }) => lock.lease ?? key).values()],
      renewTogether,
      () => !followed.ending.aborted,
    );
    schedule.roundEnded(startedAt, grants, !results.some(({ failed }) => failed && failed.response === undefined));
    const except = results.flatMap((result) => result.except ?? []);
    const failure = results.find(({ failed }) => failed !== undefined)?.failed?.error.message;
    const at = new Date(client.serverNow()).toISOString();
    const [first] = results.flatMap(({ expiresAt }) => expiresAt ?? []).toSorted();
    if (first !== undefined) {
      const [renewedUntil] = results
        .flatMap((result) => result.renewedUntil ?? [])
        .toSorted((one, other) => one - other);
      record({ kind: 'renewed', ...job, at, expires_at: first, renewedUntil, ...(except.length > 0 && { except }) });
    }
    // Recorded once, and again after a `renewed` line, which supersedes it.
    if (failure !== undefined && (!isFailing || first !== undefined) && !followed.ending.aborted) {
      record({ kind: 'unrenewed', ...job, at, reason: failure });
    }
    isFailing = failure !== undefined;
  }

  /** Renews a lock, or all locks of a lease, with one request. */
  async function renewTogether(grants: readonly Grant[]): Promise<Renewed> {
    const first = grants.find(followed.isHeld);
    // A step has released the locks since the round started.
    if (first === undefined) return {};
    const { lease } = first.lock;
    const limits = () => ({ deadline: schedule.deadlineOf(first), signal: followed.cutOff });
    const renewal: Renewal =
      lease === undefined
        ? await renewOne(locks, first, unanswered.has(first.path), limits)
        : await client.renewLease({ workspace, lease }, ttl, limits());
    if (renewal.kind === 'failed' && renewal.mayBeDone) unanswered.add(first.path);
    else if (renewal.kind !== 'failed') unanswered.delete(first.path);
    // A release in the meantime would explain the response, and the ledger must not record a grant after that release.
    followed.readNewEntries();
    const held = grants.filter(followed.isHeld);
    const at = new Date(client.serverNow()).toISOString();
    if (held.length === 0) {
      if (renewal.unclear !== undefined) record({ kind: 'left-alone', step, at, reason: unclearText(renewal.unclear) });
      return {};
    }
    if (renewal.kind === 'failed') return { except: held.map(({ path }) => path), failed: renewal };
    const losses = new Map(renewal.lost.map((one) => [one.path, one]));
    for (const grant of held) {
      if (renewal.kind === 'renewed' && !losses.has(grant.path)) continue;
      const { path, key } = grant;
      const next = losses.get(path)?.holder;
      const { owner, origin, acquired_at, expires_at } = next ?? {};
      const holder = next && { owner, origin, acquired_at, expires_at };
      record({ kind: 'lost', ...job, path, key, at, holder });
    }
    if (renewal.kind === 'ended') return {};
    const { expiresAt, renewed } = renewal;
    schedule.renewed(first, expiresAt);
    const renewedUntil = machineClock() + Math.floor(schedule.remainingMs(first));
    const { id, etag, acquired_at = first.lock.acquired_at } = renewed ?? first.lock;
    if (id !== first.lock.id || etag !== first.lock.etag) {
      const lock = { ...first.lock, id, etag, acquired_at, expires_at: expiresAt };
      const changed = { ...first, at, renewedUntil, lock };
      record(changed);
      followed.kept.set(first.path, changed);
    }
    return { expiresAt, renewedUntil };
  }

  return renewRound;
}

async function renewOne(
  { client, record, schedule, service, workspace, step, ttl }: LocksToRenew,
  grant: Grant,
  mayHaveChanged: boolean,
  limits: () => CallLimits,
): Promise<Renewal> {
  const { path, lock, at } = grant;
  const key = crypto.randomUUID();
  const { type } = lock;
  const proof = { ...lock, acquired_at: lock.acquired_at ?? at };
  // Read before the request, which cannot have acquired an older lock.
  const sentAt = new Date(client.serverNow()).toISOString();
  const notSentBefore = machineClock();
  const mayHaveEnded = (): boolean => schedule.remainingMs(grant) <= 0;
  const request = { workspace, path, type, ttl, idempotencyKey: key, proof, mayHaveEnded, mayHaveChanged };
  const renewal = await client.renewLock(request, limits());
  switch (renewal.kind) {
    case 'renewed':
      return { kind: 'renewed', expiresAt: renewal.lock.expires_at, lost: [], renewed: renewal.lock };
    case 'lost':
      return { kind: 'ended', lost: [{ path, reason: undefined, holder: renewal.holder }] };
    case 'replaced': {
      // Some services return an existing lock of the same owner: ours has expired, and another job holds the path.
      if (!renewal.isNew) {
        const unclear = renewal.lock.acquired_at === undefined ? renewal.lock : undefined;
        return { kind: 'ended', lost: [{ path, reason: undefined, holder: renewal.lock }], unclear };
      }
      // Our lock had expired, or a step has just released it, so nothing uses the new lock. If releasing it fails, or
      // this process is killed, the post-step settles the request.
      const entry = { service, workspace, step, path, key, at: sentAt };
      record({ kind: 'intent', ...entry, type, ttl: formatDuration(ttl), notSentBefore });
      // Without an ETag, repeating the request could release a later lock.
      const once = renewal.lock.etag === undefined;
      const { kind } = await client.releaseLock({ workspace, path, proof: renewal.lock, once }, limits());
      if (kind !== 'failed') record({ kind: 'ended', ...entry });
      return { kind: 'ended', lost: [] };
    }
    case 'failed':
      return renewal;
  }
}

/**
 * `renewed`: a lock outside of a lease, whose ETag the renewal may have changed. `unclear`: a different lock, which
 * this request or another job may have acquired.
 */
type Renewal = Awaited<ReturnType<Client['renewLease']>> & {
  readonly renewed?: AcquiredLock;
  readonly unclear?: AcquiredLock | undefined;
};

const unclearText = ({ path, id }: AcquiredLock): string =>
  `${path} was unlocked while its lock was renewed, and now has another lock (id ${id}). It was left alone, because it may belong to another job.`;
