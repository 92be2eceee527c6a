import { type CallLimits, clockSlackMs, type LookupResult, lookUp, type ReleaseLockResult } from '../client/client.ts';
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

export type ReleaseContext = Pick<LockContext, 'client' | 'record' | 'clock'>;

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

/**
 * A lock with neither id nor ETag is released by its path, after a look at the list, and with one request: if its
 * response is lost, or the lock has expired before it arrives, another job may hold the path.
 */
async function send(
  { client, clock }: ReleaseContext,
  { workspace, path, target, force }: LockToRelease,
  within: CallLimits,
): Promise<ReleaseResult> {
  const lock = lockOf(target);
  if (hasIdentity(lock)) return client.releaseLock({ workspace, path, proof: lock, force }, within);
  const found = target.kind === 'found' ? target.found : await lookUp(client, { workspace, path }, within);
  if (found.kind === 'failed') return { ...found, mayBeDone: false };
  const request = { workspace, path, force, found, attempts: 'once' } as const;
  if (target.kind === 'found') return found.kind === 'absent' ? found : client.releaseLock(request, within);
  const { mayBeReleased } = target;
  const serverNow = client.serverNow();
  const state = ownLockState(lock, found, { serverNow, mayBeReleased });
  if (state === 'other') return { kind: 'other', holder: found.kind === 'locked' ? found.lock : undefined };
  if (state === 'unknown') return { kind: 'ambiguous' };
  // Some services list no locks at all.
  if (state === 'absent' && (mayBeReleased || mayHaveExpired(lock, serverNow))) return { kind: 'absent' };
  const expiresAt = clock() + Date.parse(lock.expires_at ?? '') - serverNow - clockSlackMs;
  return client.releaseLock(request, { ...within, deadline: Math.min(within.deadline, expiresAt) });
}

/** A request that names its lock by ETag or id can be sent again: it never releases a later lock. */
export const hasIdentity = ({ etag, id }: Pick<OwnLock, 'etag' | 'id'>): boolean =>
  etag !== undefined || id !== undefined;

/** The known facts of the lock; none if it was not listed. */
const lockOf = (target: ReleaseTarget): OwnLock => {
  if (target.kind === 'own') return target.lock;
  return target.found.kind === 'locked' ? target.found.lock : {};
};
