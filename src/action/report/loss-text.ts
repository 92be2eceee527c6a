import type { KnownLock } from '../../client/known-lock.ts';
import { responseClockMs } from '../../client/time.ts';
import { heldText, howItEnded, lostRenewalText, pastMoment } from '../../locks/messages.ts';
import type { OurLock } from '../../locks/ownership.ts';

/** How the job lost the lock, and who has the path now: undefined if that is unknown. */
export function lossText(
  { grant: { path, lock }, loss, grantedAgain }: OurLock,
  holder: KnownLock | 'nobody' | undefined,
  now: number,
  renewalError?: string,
): string {
  const end = Date.parse(lock.expires_at ?? '');
  const hadExpired = loss === undefined ? end <= now + responseClockMs : end <= Date.parse(loss.at);
  const isOutage = renewalError !== undefined && hadExpired;
  const again = holder !== 'nobody' && grantedAgain ? `A later step of this job locked ${path} again.` : undefined;
  // A lock that was lost before it expired did not fail to renew: someone had released it.
  if (loss !== undefined && !isOutage) {
    if (again === undefined) return lostRenewalText(loss, holder, now);
    return `${lostRenewalText({ ...loss, holder: undefined }, undefined, now)} ${again}`;
  }
  const how = isOutage
    ? `The lock on ${path} expired at ${pastMoment(end, now)} because it could not be renewed: ${renewalError}`
    : `This job lost its lock on ${path}.${howItEnded(end, holder === 'nobody' ? undefined : holder, now)}`;
  if (holder === 'nobody') return `${how} Nobody holds ${path} now.`;
  // Without a response, the current holder of a lock that the process could not renew is unknown.
  if (loss !== undefined && holder === undefined && again === undefined) return how;
  return `${how} ${again ?? `${heldText(path, holder, now)}.`}`;
}
