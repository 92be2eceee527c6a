import type { KnownLock } from '../client/known-lock.ts';
import type { Conflict, Conflicts } from '../client/post-lock.ts';
import { responseClockMs } from '../client/time.ts';
import { formatNumber, formatTime, pluralize } from '../interface/format.ts';
import type { LeaseIntent, Loss } from './ledger/entry.ts';
import type { OurLock } from './ownership.ts';

/** A sentence about a refused renewal, with the holder at that time if the service named it. */
export function lostRenewalText({ path, at, holder }: Loss, now: number): string {
  const then = holder === undefined ? '' : ` It was then held${holderText(holder, now)}.`;
  return `The lock on ${path} was lost at ${pastMoment(Date.parse(at), now)}, when the service refused to renew it.${then}`;
}

/** How the job lost the lock, and who holds the path now, if known. */
export function lossText(
  { grant: { path, lock }, loss, renewalError, grantedAgain }: OurLock,
  holder: KnownLock | 'nobody' | undefined,
  now: number,
): string {
  const end = Date.parse(lock.expires_at ?? '');
  const expiredAt = Number.isNaN(end) ? '' : `expired at ${pastMoment(end, now)}`;
  // If the lock was lost before it expired, someone released it, so the failed renewal is not the cause.
  const isOutage = renewalError !== undefined && end <= (loss ? Date.parse(loss.at) : now + responseClockMs);
  const who =
    holder === 'nobody'
      ? ` Nobody holds ${path} now.`
      : grantedAgain
        ? ` A later step of this job locked ${path} again.`
        : holder && ` ${heldText(path, holder, now)}.`;
  if (isOutage) return `The lock on ${path} ${expiredAt} because it could not be renewed: ${renewalError}${who ?? ''}`;
  if (loss !== undefined) return lostRenewalText(who ? { ...loss, holder: undefined } : loss, now) + (who ?? '');
  const since = holder === 'nobody' ? undefined : holder?.acquired_at;
  const hadExpired = end <= now + responseClockMs || end <= Date.parse(since ?? '');
  const why = hadExpired
    ? ` It ${expiredAt}; a longer \`ttl\` would have prevented that.`
    : ' Someone released it before it expired.';
  return `This job lost its lock on ${path}.${expiredAt && why}${who ?? ''}`;
}

/** Whether the loss of a lock cancelled the run. Undefined if GitHub did not answer, or the loss was noticed late. */
export function cancelledText(cancelled: { readonly reason?: string | undefined } | undefined): string {
  if (cancelled === undefined) return 'The run was not cancelled before the job ended, although `on-lost` is `cancel`.';
  return cancelled.reason === undefined
    ? 'The run was cancelled because of a lost lock: `on-lost` is `cancel`.'
    : `The run could not be cancelled, although \`on-lost\` is \`cancel\`: ${cancelled.reason}`;
}

const maxNamed = 3;

/** The holder of a path, or the holders of the first of several paths. */
export function conflictsText(conflicts: Conflicts, now: number): string {
  const [one, ...more] = conflicts.map((conflict) => conflictText(conflict, now));
  if (one !== undefined && more.length === 0) return `${one}${placeText(conflicts[0])}`;
  const named = [one, ...more].slice(0, maxNamed).join('; ');
  const others = conflicts.length - maxNamed;
  return `Too few are free: ${named}${others > 0 ? `; and ${formatNumber(others)} more` : ''}`;
}

function conflictText({ path, holder, queue }: Conflict, now: number): string {
  return holder === undefined && queue !== undefined
    ? `${path} is free, but others are ahead in line`
    : heldText(path, holder, now);
}

/** The place in line. A step that does not wait has none, and sees how many others wait. */
function placeText({ hasWaited, queue }: Conflict): string {
  if (queue === undefined) return '';
  const { position, length } = queue;
  if (hasWaited) return `. You are number ${formatNumber(position)} of ${formatNumber(length)} in line`;
  return position === 1 ? '' : `. ${pluralize(position - 1, 'other is', 'others are')} waiting for it`;
}

/** A lock that may exist because its request was not answered, and when it would expire. */
export const unansweredText = ({ path, ttl, at }: Pick<LeaseIntent, 'path' | 'ttl' | 'at'>): string =>
  `${path} may have been locked: the request at ${at} was not answered, and it is unknown whether it took effect. If it did, the lock expires ${ttl} after it was granted.`;

/**
 * "Content/Hero.uasset is held by ada until 14:05 UTC (in 12 min), locked in https://…/runs/1, since 13:05 UTC (48 min
 * ago), with the note "new armor"".
 */
export const heldText = (path: string, holder: KnownLock | undefined, now: number): string =>
  `${path} is held${holder === undefined ? '' : holderText(holder, now)}`;

type Holder = Partial<Pick<KnownLock, 'owner' | 'origin' | 'acquired_at' | 'expires_at' | 'note'>>;

function holderText({ owner, origin, acquired_at, expires_at, note }: Holder, now: number): string {
  const [start, end] = [Date.parse(acquired_at ?? ''), Date.parse(expires_at ?? '')];
  const parts: string[] = [];
  if (owner !== undefined) parts.push(` by ${owner}`);
  if (!Number.isNaN(end)) parts.push(` until ${formatTime(end, now)}`);
  if (origin !== undefined) parts.push(`, locked in ${origin}`);
  if (!Number.isNaN(start)) parts.push(`, since ${pastMoment(start, now)}`);
  if (note !== undefined) parts.push(`, with the note "${note}"`);
  return parts.join('');
}

/** Formats a time in the past: "14:05 UTC (3 min ago)". */
export const pastMoment = (time: number, now: number): string => formatTime(time, Math.max(now, time + 1));
