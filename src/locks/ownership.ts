import { isSameLock, type KnownLock } from '../client/known-lock.ts';
import { isUnreadable, type LookupResult } from '../client/lists.ts';
import { clockSlackMs, machineClock, responseClockMs } from '../client/time.ts';
import type { Grant } from './ledger/entry.ts';
import type { JobLock } from './ledger/history.ts';

/** A lock of this job, from its ledger, or a lock that another job passed to it. */
export interface OurLock extends Omit<JobLock, 'grant' | 'ending'> {
  readonly grant: OwnGrant;
}

/** The known part of a grant. A lock of another job has no `key`, and `at` is the latest possible time of its grant. */
interface OwnGrant extends Pick<Grant, 'path'>, Partial<Pick<Grant, 'key' | 'at' | 'lastsUntil' | 'renewedUntil'>> {
  readonly lock: OwnLock;
}

/** The details of the lock from the service. */
export interface OwnLock extends Partial<Omit<KnownLock, 'path' | 'origin' | 'note' | 'raw'>> {
  readonly lease?: string | undefined;
}

/** State of a lock of this job, derived from a lookup of its path. */
type OwnLockState =
  | 'ours'
  /** The current lock cannot be identified, but ours was neither released nor has it expired. */
  | 'assumed'
  | 'absent'
  /** A different lock is on the path. */
  | 'other'
  | 'unknown';

/** Determines the state of a lock. A lock that may already have been released is never assumed to exist. */
export function ownLockState({ grant, mayBeReleased }: OurLock, found: LookupResult, serverNow: number): OwnLockState {
  const mayHaveEnded = mayBeReleased || mayHaveExpired(grant.lock, serverNow);
  const withoutProof = mayHaveEnded ? 'unknown' : 'assumed';
  switch (found.kind) {
    case 'absent':
      return 'absent';
    case 'failed':
      // An unreadable list is treated like a missing one, because the next one would be unreadable, too.
      return isUnreadable(found.error) ? withoutProof : 'unknown';
    case 'unknown':
      return withoutProof;
    case 'locked': {
      const identity = identityOf(grant, found.lock, mayHaveEnded);
      // The clock of this machine or a gateway may be wrong by days. A steady clock decides if ours lasts.
      const lastsUntil = grant.renewedUntil ?? grant.lastsUntil;
      const lasts = identity === 'ours' && machineClock() < (lastsUntil ?? 0);
      // Some services keep listing a lock for a while after it has expired.
      const isOver = !lasts && Date.parse(found.lock.expires_at ?? '') <= serverNow;
      if (isOver) return identity === 'ours' && lastsUntil === undefined ? 'unknown' : 'absent';
      return identity ?? withoutProof;
    }
  }
}

/**
 * Undefined if neither id nor ETag identifies the listed lock, and it is not known to be later. An id alone is not
 * enough if our lock may have ended, and the listed one starts or ends later: it may be the id of the path.
 */
function identityOf({ lock: own, key, at = '' }: OwnGrant, listed: KnownLock, mayHaveEnded: boolean) {
  const isSame = isSameLock(own, listed);
  if (isSame === false) return 'other';
  const laterMs = Date.parse(listed.acquired_at ?? '') - Date.parse(own.acquired_at ?? at);
  // The service may truncate its times to seconds. Our time also includes the time that a response took.
  const isLater = own.acquired_at === undefined ? laterMs > clockSlackMs : laterMs >= responseClockMs;
  if (isSame === undefined) {
    const isOfOther = own.owner !== undefined && listed.owner !== undefined && own.owner !== listed.owner;
    return isOfOther || isLater ? 'other' : undefined;
  }
  const endsLater = Date.parse(listed.expires_at ?? '') - Date.parse(own.expires_at ?? '') > clockSlackMs;
  // Another job may have renewed the lock that it passed on. Then only the start counts, if it is known.
  const isOther = isLater || (endsLater && (key !== undefined || Number.isNaN(laterMs)));
  return mayHaveEnded && own.etag === undefined && isOther ? undefined : 'ours';
}

/** Whether the lock has expired or is about to. Without a known expiry, it may have. */
export function mayHaveExpired({ expires_at = '' }: OwnLock, serverNow: number): boolean {
  const end = Date.parse(expires_at);
  return !(end > serverNow + clockSlackMs);
}

/**
 * How long the lock certainly lasts. Before the first response, this process does not know the clock of the service,
 * and the clock of the machine may be wrong, so the time since the grant also counts.
 */
export const certainMs = ({ lock: { expires_at = '' }, lastsUntil = 0 }: OwnGrant, serverNow: number): number =>
  Math.max(0, Math.min((Date.parse(expires_at) || 0) - serverNow, lastsUntil - machineClock()) - clockSlackMs);

/** Whether the lock has expired or is about to, by the clock of the machine if this job acquired or renewed it. */
export function isOver({ lock, lastsUntil, renewedUntil = lastsUntil }: OwnGrant, serverNow: number): boolean {
  return renewedUntil === undefined ? mayHaveExpired(lock, serverNow) : renewedUntil - machineClock() <= clockSlackMs;
}
