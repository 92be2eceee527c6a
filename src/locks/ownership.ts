import { clockSlackMs, type KnownLock, type LookupResult } from '../client/client.ts';
import type { LockPath } from '../interface/lock-path.ts';
import type { Grant } from './ledger/entry.ts';

/** A lock of an earlier step of this job. Waiting for it is pointless: only this job releases it. */
export interface AlreadyHeld {
  readonly path: LockPath;
  readonly owner: string | undefined;
  readonly expiresAt: number;
  /** The step's name in the workflow; undefined if unknown. */
  readonly stepName: string | undefined;
}

/** A lock that was once ours, with its details from the service. */
export interface OwnLock extends Partial<Omit<KnownLock, 'path' | 'origin' | 'note' | 'raw'>> {
  /** The idempotency key of the request that acquired it; undefined for a lock of another job. */
  readonly key?: string;
  /** The latest time at which the service may have granted the lock, by the clock of the service. */
  readonly grantedAt?: string | undefined;
  /** The lease that it is part of. */
  readonly lease?: string | undefined;
}

export const ownLockOf = ({ lock, key, at }: Grant): OwnLock => ({
  ...lock,
  // The saved state of a step has no keys.
  ...(key !== '' && { key }),
  grantedAt: at,
});

/** The state of a lock that was ours, from a lookup of its path. */
type OwnLockState =
  | 'ours'
  /** The current lock cannot be identified, but ours was not released and has not expired. */
  | 'assumed'
  | 'absent'
  /** A different lock is on the path. */
  | 'other'
  | 'unknown';

/** Determines the state of a lock. One that may already have been released is never assumed to exist. */
export function ownLockState(
  own: OwnLock,
  found: LookupResult,
  { serverNow, mayBeReleased }: { readonly serverNow: number; readonly mayBeReleased: boolean },
): OwnLockState {
  const withoutProof = mayBeReleased || mayHaveExpired(own, serverNow) ? 'unknown' : 'assumed';
  switch (found.kind) {
    case 'absent':
      return 'absent';
    case 'failed':
      return 'unknown';
    case 'unknown':
      return withoutProof;
    case 'locked': {
      // Some services still list a lock for a while after it has expired.
      if (Date.parse(found.lock.expires_at ?? '') <= serverNow) return 'absent';
      const ownership = compareOwnership(own, found.lock);
      return ownership === 'ambiguous' ? withoutProof : ownership;
    }
  }
}

type Ownership = 'ours' | 'other' | 'ambiguous';

/** Ids decide if both are known. Everything else may be formatted differently in a list, or change with a renewal. */
function compareOwnership(own: OwnLock, listed: KnownLock): Ownership {
  if (own.id !== undefined && listed.id !== undefined) return own.id === listed.id ? 'ours' : 'other';
  if (isAnother(own, listed)) return 'other';
  return isSame(own, listed) ? 'ours' : 'ambiguous';
}

/** Whether the lock has expired or is about to. A lock without a known expiry may have expired. */
export function mayHaveExpired({ expires_at = '' }: OwnLock, serverNow: number): boolean {
  const end = Date.parse(expires_at);
  return !(end > serverNow + clockSlackMs);
}

/** They differ in a field that both have, or the listed lock was acquired after ours. */
const isAnother = (own: OwnLock, listed: KnownLock): boolean =>
  differ(own.etag, listed.etag) ||
  differ(own.owner, listed.owner) ||
  areDifferentMoments(own.acquired_at, listed.acquired_at) ||
  msBetween(own.grantedAt, listed.acquired_at) > clockSlackMs;

const differ = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && one !== other;

/**
 * Responses and lists may have times of different precision: a difference of less than a second counts only if both
 * have fractions.
 */
function areDifferentMoments(one: string | undefined, other: string | undefined): boolean {
  const ms = Math.abs(msBetween(one, other));
  return ms >= 1_000 || (ms > 0 && !isWholeSecond(one) && !isWholeSecond(other));
}

const isWholeSecond = (time: string | undefined): boolean => Date.parse(time ?? '') % 1_000 === 0;

/** The owner proves nothing, because the same owner may have locked the path twice: only the ETag and the time do. */
const isSame = (own: OwnLock, listed: KnownLock): boolean =>
  (own.etag !== undefined && own.etag === listed.etag) || msBetween(own.acquired_at, listed.acquired_at) === 0;

const msBetween = (one: string | undefined, other: string | undefined): number =>
  one === undefined || other === undefined ? Number.NaN : Date.parse(other) - Date.parse(one);
