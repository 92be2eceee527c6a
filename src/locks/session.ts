import { type AcquiredLock, conditionOf } from '../client/known-lock.ts';
import { isUnreadable, type LookupResult, lookUp } from '../client/lists.ts';
import type { AcquireLockResult } from '../client/post-lock.ts';
import type { QueueWait } from '../client/queue.ts';
import type { ReleaseLockResult } from '../client/release-lock.ts';
import type { CallLimits } from '../client/request.ts';
import { isTransient } from '../client/service-error.ts';
import { backoff } from '../client/time.ts';
import { formatDuration } from '../interface/duration.ts';
import type { LockPath } from '../interface/lock-path.ts';
import type { LockContext, LockTerms } from './context.ts';
import { type Grant, type GrantedLock, grantedLock, type Intent, parsedTtl } from './ledger/entry.ts';
import { mayHaveExpired, type OurLock, ownLockState } from './ownership.ts';

/** With `mayBeDone`, repeat the request with the same intent. */
export type SessionAcquireResult =
  /** `grantedAt`: the earliest time at which it can have been granted, by the clock of this machine. */
  | { readonly kind: 'acquired'; readonly grant: Grant; readonly lock: AcquiredLock; readonly grantedAt: number }
  | Exclude<AcquireLockResult, { readonly kind: 'acquired' }>;

export type LockSession = ReturnType<typeof createLockSession>;

/** Acquires and releases single locks. Records each intent in the ledger before its request, and then the result. */
export function createLockSession(context: ReleaseContext) {
  const { client, clock, record } = context;
  const startedAt = clock();
  /** The keys of this process, with the time at which each was first sent; undefined before that. */
  const sentAt = new Map<string, number | undefined>();
  /** Keys of grants whose release failed, but may have taken effect: another job may hold the path. */
  const maybeReleased = new Set<string>();
  let byService = false;
  const now = (): string => new Date(client.serverNow()).toISOString();

  /** Time of the first request, by the clock of the service, which a response shows; NaN if unknown. */
  function firstSentAt({ key, at, byService }: Intent): () => number {
    const here = sentAt.get(key);
    if (here === undefined) return () => (byService ? Date.parse(at) : Number.NaN);
    return () => client.serverNow() - (clock() - here);
  }

  /** A repeated request may return a lock that was granted to the first one. `acquired_at` shows whether it does. */
  function earliestGrant(key: string, { acquired_at }: GrantedLock): number {
    const first = sentAt.get(key) ?? clock();
    const ageMs = client.serverNow() - Date.parse(acquired_at ?? '');
    return Number.isNaN(ageMs) ? first : Math.max(first, clock() - Math.max(0, ageMs));
  }

  return {
    intend(path: LockPath, { service, workspace, step, type, ttl, note }: LockTerms): Intent {
      const key = `${step}/${sentAt.size + 1}`;
      const intent: Intent = {
        ...{ kind: 'intent', service, workspace, path, step, key, type },
        ...{ ttl: formatDuration(ttl), note, at: now(), byService },
      };
      sentAt.set(key, undefined);
      record(intent);
      return intent;
    },

    /** Requests the lock of an intent. An unanswered request can be repeated with the same intent. */
    async acquire(intent: Intent, within: CallLimits, line?: QueueWait): Promise<SessionAcquireResult> {
      const { service, workspace, path, step, key, type, note } = intent;
      // Another process may have sent the key of an intent in the ledger before.
      const isRepeated = !sentAt.has(key) || sentAt.get(key) !== undefined;
      if (!isRepeated) sentAt.set(key, clock());
      const acquisition = await client.acquireLock(
        {
          ...{ workspace, path, type, ttl: parsedTtl(intent), note, idempotencyKey: key, line },
          firstSentAt: isRepeated ? firstSentAt(intent) : undefined,
        },
        within,
      );
      byService ||= acquisition.kind === 'acquired' || acquisition.kind === 'held';
      const ended = { service, workspace, path, key };
      if (acquisition.kind === 'acquired') {
        const { lock } = acquisition;
        const waitedMs = Math.round(clock() - startedAt);
        const grant: Grant = { kind: 'granted', ...ended, step, waitedMs, lock: grantedLock(lock), at: now() };
        record(grant);
        const waits = line !== undefined && line.seconds > 0;
        return { kind: 'acquired', grant, lock, grantedAt: waits ? clock() : earliestGrant(key, lock) };
      }
      if (!acquisition.mayBeDone) record({ kind: 'ended', ...ended, at: now() });
      return acquisition;
    },

    async release(grant: Grant, within: CallLimits, mayBeReleased = false): Promise<ReleaseResult> {
      const { service, workspace, key } = grant;
      const lock = { service, workspace, grant, mayBeReleased: mayBeReleased || maybeReleased.has(key) };
      const result = await releaseTarget(context, lock, within);
      if (result.kind === 'failed' && result.mayBeDone) maybeReleased.add(key);
      return result;
    },
  };
}

/** The lock to release, and no other one instead. */
interface ReleaseTarget extends OurLock, Pick<Grant, 'service' | 'workspace'> {
  /** The lookup that has found the lock. A later one is not released, even if nothing distinguishes it from this one. */
  readonly found?: Exclude<LookupResult, { readonly kind: 'failed' }> | undefined;
  /** Asks the service to release the lock even if it has another owner. */
  readonly force?: boolean | undefined;
}

export type ReleaseResult =
  | ReleaseLockResult
  /** The current lock cannot be verified to be this one. */
  | { readonly kind: 'ambiguous' };

type ReleaseContext = Pick<LockContext, 'client' | 'record' | 'clock' | 'sleep' | 'random'>;

/** Releases this lock and no other. Records the intent in the ledger before the request, and then the result. */
export async function releaseTarget(
  context: ReleaseContext,
  lock: ReleaseTarget,
  within: CallLimits,
): Promise<ReleaseResult> {
  const { service, workspace, grant, force } = lock;
  const { client, record } = context;
  const { path, lock: proof, key } = grant;
  const { id, etag } = proof;
  const entry = { service, workspace, path, id, etag, key };
  const now = (): string => new Date(client.serverNow()).toISOString();
  const recordAttempt = (failed?: true): void => record({ kind: 'releasing', ...entry, failed, at: now() });
  // A request that names its lock can be sent again: it never releases a later one.
  const isNamed = conditionOf(proof) !== undefined;
  if (isNamed) recordAttempt();
  const result = isNamed
    ? await client.releaseLock({ workspace, path, proof, force }, within)
    : await releaseByPath(context, lock, within, recordAttempt);
  // A lock of someone else shows that ours has ended, if it is known which one is ours.
  const isReplaced = result.kind === 'other' && (key ?? id ?? etag) !== undefined;
  if (result.kind === 'released' || result.kind === 'absent' || isReplaced) {
    record({ kind: 'ended', ...entry, at: now() });
  }
  return result;
}

/**
 * A lock with neither id nor ETag is released by its path, with one request after a look at the list: if its response is
 * lost, another job may hold the path. A request that has certainly not arrived is sent again, after another look.
 */
async function releaseByPath(
  context: ReleaseContext,
  lock: ReleaseTarget,
  within: CallLimits,
  recordAttempt: (failed?: true) => void,
): Promise<ReleaseResult> {
  const { clock, sleep, random } = context;
  for (let failures = 1; ; failures += 1) {
    const result = await releaseOnce(context, lock, within, recordAttempt);
    const pauseMs = backoff(failures + 1, undefined, random, maxPauseMs);
    const isOver = within.signal?.aborted === true || clock() + pauseMs >= within.deadline;
    if (lock.found !== undefined || !hasNotArrived(result) || isOver) return result;
    await sleep(pauseMs, within.signal);
  }
}

const maxPauseMs = 5_000;

/** A refusal of another kind may be about a lock that has replaced ours. */
const hasNotArrived = (result: ReleaseResult): boolean =>
  result.kind === 'failed' &&
  !result.mayBeDone &&
  (isTransient(result.error) || result.error.failure.kind === 'aborted');

/**
 * Records the attempt just before the request, and if that has not arrived: other processes of the job leave alone a
 * lock that this one may have released.
 */
async function releaseOnce(
  { client }: ReleaseContext,
  lock: ReleaseTarget,
  within: CallLimits,
  recordAttempt: (failed?: true) => void,
): Promise<ReleaseResult> {
  const { workspace, grant, mayBeReleased, force } = lock;
  const { path } = grant;
  const look = () => lookUp(client, { workspace, path }, within);
  const found = lock.found ?? (await look());
  const isUnreadableList = lock.found === undefined && found.kind === 'failed' && isUnreadable(found.error);
  if (found.kind === 'failed' && !isUnreadableList) return { ...found, mayBeDone: false };
  if (lock.found === undefined) {
    const serverNow = client.serverNow();
    const state = ownLockState(lock, found, serverNow);
    if (state === 'other') return { kind: 'other', holder: found.kind === 'locked' ? found.lock : undefined };
    if (state === 'unknown') return { kind: 'ambiguous' };
    // Some services list no locks at all.
    if (state === 'absent' && (mayBeReleased || mayHaveExpired(grant.lock, serverNow))) return { kind: 'absent' };
  } else if (lock.found.kind === 'absent') return lock.found;

  recordAttempt();
  const result = await client.releaseLock({ workspace, path, force, once: true, found }, within);
  if (hasNotArrived(result) && !mayBeReleased && grant.key !== undefined) recordAttempt(true);
  if (result.kind !== 'failed' || !result.mayBeDone) return result;
  const state = ownLockState({ grant, mayBeReleased: true }, await look(), client.serverNow());
  return state === 'absent' || state === 'other' ? { kind: 'released' } : result;
}
