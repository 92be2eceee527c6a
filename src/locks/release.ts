import {
  backoff,
  type CallLimits,
  isTransient,
  type LookupResult,
  lookUp,
  type ReleaseLockResult,
} from '../client/client.ts';
import type { LockContext } from './context.ts';
import type { Grant } from './ledger/entry.ts';
import { mayHaveExpired, type OwnLock, ownLockState } from './ownership.ts';

/** Identifies the lock to release, so that no other one is released instead. */
export type ReleaseTarget =
  | {
      /** A lock that was granted to this job, or to the job that handed it over. */
      readonly kind: 'own';
      readonly lock: OwnLock;
      /** The lock may already have been released: the current lock is ours only with proof. */
      readonly mayBeReleased: boolean;
    }
  /** The lock that a lookup of the path has found, and no later one. */
  | { readonly kind: 'found'; readonly found: Exclude<LookupResult, { readonly kind: 'failed' }> };

interface LockToRelease extends Pick<Grant, 'service' | 'workspace' | 'path'> {
  readonly target: ReleaseTarget;
  /** Asks the service to release the lock even if it has another owner. */
  readonly force?: boolean | undefined;
}

export type ReleaseResult =
  | ReleaseLockResult
  /** The current lock cannot be verified to be this one. */
  | { readonly kind: 'ambiguous' };

export type ReleaseContext = Pick<LockContext, 'client' | 'record' | 'clock' | 'sleep' | 'random'>;

/** Releases this lock and no other. Records the intent in the ledger before the request, and then the result. */
export async function releaseTarget(
  context: ReleaseContext,
  request: LockToRelease,
  within: CallLimits,
): Promise<ReleaseResult> {
  const { service, workspace, path, target } = request;
  const { client, record } = context;
  const { id, etag, key } = lockOf(target);
  const entry = { service, workspace, path, id, etag, key };
  const now = (): string => new Date(client.serverNow()).toISOString();
  if (target.kind === 'own' || target.found.kind !== 'absent') record({ kind: 'releasing', ...entry, at: now() });
  const result = await send(context, request, within);
  // A lock of someone else shows that ours has ended, if it is known which one is ours.
  const isReplaced = result.kind === 'other' && (key ?? id ?? etag) !== undefined;
  if (result.kind === 'released' || result.kind === 'absent' || isReplaced) {
    record({ kind: 'ended', ...entry, at: now() });
  }
  return result;
}

async function send(context: ReleaseContext, request: LockToRelease, within: CallLimits): Promise<ReleaseResult> {
  const { client, clock, sleep, random } = context;
  const { workspace, path, target, force } = request;
  const lock = lockOf(target);
  if (hasIdentity(lock)) return client.releaseLock({ workspace, path, proof: lock, force }, within);
  for (let failures = 1; ; failures += 1) {
    const result = await releaseOnce(context, request, within);
    const hasNotArrived = result.kind === 'failed' && !result.mayBeDone && isTransient(result.error);
    const pauseMs = backoff(failures + 1, undefined, random, maxPauseMs);
    const isOver = within.signal?.aborted === true || clock() + pauseMs >= within.deadline;
    if (target.kind === 'found' || !hasNotArrived || isOver) return result;
    await sleep(pauseMs, within.signal);
  }
}

const maxPauseMs = 5_000;

/**
 * A lock with neither id nor ETag is released by its path, with one request after a look at the list: if its response is
 * lost, another job may hold the path. A request that has certainly not arrived is sent again, after another look.
 */
async function releaseOnce(
  { client }: ReleaseContext,
  { workspace, path, target, force }: LockToRelease,
  within: CallLimits,
): Promise<ReleaseResult> {
  const look = () => lookUp(client, { workspace, path }, within);
  const found = target.kind === 'found' ? target.found : await look();
  if (found.kind === 'failed') return { ...found, mayBeDone: false };
  if (target.kind === 'own') {
    const serverNow = client.serverNow();
    const state = ownLockState(target.lock, found, { serverNow, mayBeReleased: target.mayBeReleased });
    if (state === 'other') return { kind: 'other', holder: found.kind === 'locked' ? found.lock : undefined };
    if (state === 'unknown') return { kind: 'ambiguous' };
    // Some services list no locks at all.
    const mayBeGone = target.mayBeReleased || mayHaveExpired(target.lock, serverNow);
    if (state === 'absent' && mayBeGone) return { kind: 'absent' };
  } else if (found.kind === 'absent') return found;

  const result = await client.releaseLock({ workspace, path, force, attempts: 'once', found }, within);
  if (result.kind !== 'failed' || !result.mayBeDone) return result;
  const after = { serverNow: client.serverNow(), mayBeReleased: true };
  const state = ownLockState(lockOf(target), await look(), after);
  return state === 'absent' || state === 'other' ? { kind: 'released' } : result;
}

/** A request that names its lock by ETag or id can be sent again: it never releases a later lock. */
export const hasIdentity = ({ etag, id }: Pick<OwnLock, 'etag' | 'id'>): boolean =>
  etag !== undefined || id !== undefined;

/** The known facts of the lock; none if it was not listed. */
const lockOf = (target: ReleaseTarget): OwnLock => {
  if (target.kind === 'own') return target.lock;
  return target.found.kind === 'locked' ? target.found.lock : {};
};
