import type { KnownLock } from '../../client/client.ts';
import { clockSlackMs } from '../../client/clock.ts';
import type { LookupResult } from '../../client/lookup.ts';
import type { LockPath } from '../../interface/lock-path.ts';

/** A lock of an earlier step of this job: waiting for it is of no use, because only this job releases it. */
export interface AlreadyHeld {
  readonly path: LockPath;
  readonly owner: string | undefined;
  readonly expiresAt: number;
  /** The step's name in the workflow; undefined if unknown. */
  readonly stepName: string | undefined;
}

/** A lock that was ours once, with what the service said of it. */
export interface OwnLock {
  readonly id?: string | undefined;
  readonly etag?: string | undefined;
  readonly owner?: string | undefined;
  readonly acquired_at?: string | undefined;
  readonly expires_at?: string | undefined;
  /** The latest moment at which the service can have granted it, by its own clock. */
  readonly grantedAt?: string | undefined;
}

/** A look at the path of a lock that was ours. */
type Standing =
  | 'ours'
  /** Nothing identifies the current lock, but ours has not been released, and its lifetime has not ended. */
  | 'assumed'
  | 'absent'
  /** Another lock is there. */
  | 'lost'
  | 'unknown';

/** Decides what became of a lock. `isDoubtful`: it may have been released before, so it is never assumed to stand. */
export function standingOf(
  own: OwnLock,
  found: LookupResult,
  { serverNow, isDoubtful }: { readonly serverNow: number; readonly isDoubtful: boolean },
): Standing {
  const unproven = isDoubtful || mayHaveExpired(own, serverNow) ? 'unknown' : 'assumed';
  switch (found.kind) {
    case 'absent':
      return 'absent';
    case 'failed':
      return 'unknown';
    case 'unknown':
      return unproven;
    case 'locked': {
      // Some services list a lock for a while after its end.
      if (Date.parse(found.lock.expires_at ?? '') <= serverNow) return 'absent';
      const ownership = compareOwnership(own, found.lock);
      return ownership === 'unknown' ? unproven : ownership;
    }
  }
}

/** Whether the listed lock is ours, another one, or ambiguous. */
type Ownership = 'ours' | 'lost' | 'unknown';

/** Ids decide if both are known. Everything else may be spelled differently in a list, or change with a renewal. */
export function compareOwnership(own: OwnLock, listed: KnownLock): Ownership {
  if (own.id !== undefined && listed.id !== undefined) return own.id === listed.id ? 'ours' : 'lost';
  if (isAnother(own, listed)) return 'lost';
  return isSame(own, listed) ? 'ours' : 'unknown';
}

/** Whether its lifetime has ended or is about to. A lock without a known end may have ended. */
export function mayHaveExpired({ expires_at = '' }: OwnLock, serverNow: number): boolean {
  const end = Date.parse(expires_at);
  return !(end > serverNow + clockSlackMs);
}

/** They differ in something that is known of both, or the listed one was taken after ours. */
const isAnother = (own: OwnLock, listed: KnownLock): boolean =>
  differ(own.etag, listed.etag) ||
  differ(own.owner, listed.owner) ||
  areDifferentMoments(own.acquired_at, listed.acquired_at) ||
  msBetween(own.grantedAt, listed.acquired_at) > clockSlackMs;

const differ = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && one !== other;

/** Answers and lists may have times of different precision: a truncated one proves less. */
function areDifferentMoments(one: string | undefined, other: string | undefined): boolean {
  const ms = Math.abs(msBetween(one, other));
  return ms >= 1_000 || (ms > 0 && !isWholeSecond(one) && !isWholeSecond(other));
}

const isWholeSecond = (time: string | undefined): boolean => Date.parse(time ?? '') % 1_000 === 0;

/** The same owner may have taken the path twice; only the ETag and the time tell. */
const isSame = (own: OwnLock, listed: KnownLock): boolean =>
  (own.etag !== undefined && own.etag === listed.etag) || msBetween(own.acquired_at, listed.acquired_at) === 0;

const msBetween = (one: string | undefined, other: string | undefined): number =>
  one === undefined || other === undefined ? Number.NaN : Date.parse(other) - Date.parse(one);
