import type { KnownLock } from '../../client/known-lock.ts';
import { responseClockMs } from '../../client/time.ts';
import { formatTime } from '../../interface/format.ts';
import { heldText, lossText, pastMoment } from '../../locks/messages.ts';
import { mayHaveExpired, type OurLock } from '../../locks/ownership.ts';
import type { ReleaseResult } from '../../locks/release.ts';
import type { PathResult } from './results.ts';

/**
 * The result of ending a lock of this job. `doubt`: why this job may have released a lock whose release is not on
 * record; such a lock is not lost. `now` is the current time by the clock of the service.
 */
export function releaseResult(
  ours: OurLock,
  end: Exclude<ReleaseResult, { readonly kind: 'failed' }>,
  doubt: string | undefined,
  now: number,
): PathResult {
  const { grant, grantedAgain = false, mayBeReleased, loss, renewalError } = ours;
  const { path, lock } = grant;
  switch (end.kind) {
    case 'released':
      // After a lost response, a free path counts as released, but this lock had ended before.
      return loss === undefined ? { path, result: 'released' } : replacedResult(ours, undefined, doubt, now);
    case 'absent': {
      // If a lock that was to be renewed until the end of the job expired, it was lost, even if the path is free now.
      const isLost = loss !== undefined || (renewalError !== undefined && mayHaveExpired(lock, now));
      return isLost ? replacedResult(ours, 'nobody', doubt, now) : goneResult(ours, now);
    }
    case 'other': {
      const { holder, mayBeDone = false } = end;
      return replacedResult({ ...ours, mayBeReleased: mayBeReleased || mayBeDone }, holder, doubt, now);
    }
    case 'ambiguous': {
      if (grantedAgain) return replacedResult(ours, undefined, doubt, now);
      const until = untilText(ours, now);
      const text = `Nothing identifies the lock on ${path} as this one${until && ` (${until})`}: the current lock was left alone, and may belong to someone else.`;
      return { path, result: 'left alone', until: lock.expires_at, warning: { text } };
    }
  }
}

/** `holder` is `nobody` if the path is free. The lock is lost, unless this job may have released it. */
function replacedResult(
  ours: OurLock,
  holder: KnownLock | 'nobody' | undefined,
  doubt: string | undefined,
  now: number,
): PathResult {
  const { path } = ours.grant;
  // If its renewal was refused, the lock was lost before this job could have released it.
  if (ours.loss !== undefined || !ours.mayBeReleased) {
    return { path, result: 'lost', holder, failure: lossText(ours, holder, now) };
  }
  if (doubt === undefined || holder === 'nobody') return goneResult(ours, now);
  const text = `${heldText(path, holder, now)}: that lock was left alone.`;
  return { path, result: 'left alone', holder, warning: { text, advice: doubt } };
}

/** A lock that is gone, but was not lost. The job may have relied on it beyond its expiry. */
function goneResult({ grant: { path, lock } }: OurLock, now: number): PathResult {
  const end = Date.parse(lock.expires_at ?? '');
  // Its expiry is unknown if the response that granted it was lost.
  if (!(end <= now + responseClockMs)) return { path, result: 'already gone' };
  const text = `The lock on ${path} expired at ${pastMoment(end, now)}, before the job ended.`;
  return { path, result: 'already gone', warning: { text, advice: 'Increase `ttl` to cover the job.' } };
}

export function untilText({ grant: { lock } }: OurLock, now: number): string {
  const end = Date.parse(lock.expires_at ?? '');
  if (Number.isNaN(end)) return '';
  return end <= now + responseClockMs ? `expired at ${pastMoment(end, now)}` : `held until ${formatTime(end, now)}`;
}
