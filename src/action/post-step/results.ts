import { conditionOf, type KnownLock } from '../../client/known-lock.ts';
import { responseClockMs } from '../../client/time.ts';
import { formatTime } from '../../interface/format.ts';
import { asOneSegment } from '../../interface/lock-path.ts';
import { shellQuoted } from '../../interface/shell-word.ts';
import type { Grant, LeaseIntent } from '../../locks/ledger/entry.ts';
import type { JobLock } from '../../locks/ledger/history.ts';
import { heldText, lossText, pastMoment, unansweredText } from '../../locks/messages.ts';
import { mayHaveExpired } from '../../locks/ownership.ts';
import type { ReleaseResult } from '../../locks/release.ts';
import type { PathResult } from '../report/results.ts';

/** The result of releasing a lock, or the reason why it was not released. */
export type LockEnd =
  | Exclude<ReleaseResult, { readonly kind: 'failed' }>
  /** `mayBeDone`: the request had no response, and is not repeated if nothing identifies the lock. */
  | { readonly kind: 'failed'; readonly reason: string; readonly mayBeDone?: boolean };

interface Records {
  readonly ledgerError: string | undefined;
  readonly renewalError: string | undefined;
}

/** The post-step's result for a lock. `now` is the current time by the clock of the service. */
export function resultOf(candidate: JobLock, end: LockEnd, records: Records, now: number): PathResult {
  const { grant, grantedAgain = false, mayBeReleased, loss } = candidate;
  const { path, lock } = grant;
  switch (end.kind) {
    case 'released':
      // After a lost response, a free path counts as released, but this lock had ended before.
      return loss === undefined ? { path, result: 'released' } : replacedResult(candidate, undefined, records, now);
    case 'absent': {
      // If a lock that was to be renewed until the end of the job expired, it was lost, even if the path is free now.
      const isLost = loss !== undefined || (records.renewalError !== undefined && mayHaveExpired(lock, now));
      return isLost ? replacedResult(candidate, 'nobody', records, now) : goneResult(grant, now);
    }
    case 'other': {
      const { holder, mayBeDone = false } = end;
      return replacedResult({ ...candidate, mayBeReleased: mayBeReleased || mayBeDone }, holder, records, now);
    }
    case 'ambiguous': {
      if (grantedAgain) return replacedResult(candidate, undefined, records, now);
      const text = `Nothing identifies the lock on ${path} as a lock of this job (${untilText(grant, now)}): the current lock was left alone.`;
      return { path, result: 'left alone', until: lock.expires_at, warning: { text } };
    }
    case 'failed':
      // A lock that is known to be lost needs no further request.
      return loss === undefined
        ? notReleasedResult(grant, end, now)
        : replacedResult(candidate, undefined, records, now);
  }
}

/** A lock that is gone, but was not lost. The job may have relied on it beyond its expiry. */
function goneResult({ path, lock }: Grant, now: number): PathResult {
  const end = Date.parse(lock.expires_at);
  // Its expiry is unknown if the response that granted it was lost.
  if (!(end <= now + responseClockMs)) return { path, result: 'already gone' };
  const text = `The lock on ${path} expired at ${pastMoment(end, now)}, before the job ended.`;
  return { path, result: 'already gone', warning: { text, advice: 'Increase `ttl` to cover the job.' } };
}

function notReleasedResult(
  grant: Grant,
  { reason, mayBeDone = false }: Extract<LockEnd, { readonly kind: 'failed' }>,
  now: number,
): PathResult {
  const { path, lock } = grant;
  const about = [lock.id === undefined ? '' : `id ${lock.id}`, untilText(grant, now)].filter((text) => text !== '');
  const which = about.length > 0 ? ` (${about.join(', ')})` : '';
  return {
    path,
    result: mayBeDone ? 'may still be locked' : 'not released',
    until: lock.expires_at,
    warning: {
      reason: `Some locks ${mayBeDone ? 'may not have been released' : 'could not be released and will expire'}. ${reason} To release them now:`,
      text: `${path}${which}: ${manualReleaseCommand(grant)}.`,
    },
  };
}

export const unansweredResult = (intent: Pick<LeaseIntent, 'path' | 'ttl' | 'at'>, reason: string): PathResult => ({
  path: intent.path,
  result: 'may still be locked',
  warning: { text: `${unansweredText(intent)} ${reason}` },
});

/** `holder` is `nobody` if the path is free. The lock is lost, unless this job may have released it. */
function replacedResult(
  candidate: JobLock,
  holder: KnownLock | 'nobody' | undefined,
  { ledgerError, renewalError }: Records,
  now: number,
): PathResult {
  const { grant, mayBeReleased, loss } = candidate;
  const { path } = grant;
  // If its renewal was refused, the lock was lost before this job could have released it.
  if (loss !== undefined || !mayBeReleased) {
    return { path, result: 'lost', holder, failure: lossText(candidate, holder, now, renewalError) };
  }
  if (ledgerError === undefined || holder === 'nobody') return goneResult(grant, now);
  const text = `${heldText(path, holder, now)}: that lock was left alone.`;
  const advice = 'The ledger is damaged or gone, so it is unknown whether this job had released its own lock.';
  return { path, result: 'left alone', holder, warning: { text, advice } };
}

function untilText({ lock }: Grant, now: number): string {
  const end = Date.parse(lock.expires_at);
  if (Number.isNaN(end)) return '';
  return end <= now + responseClockMs ? `expired at ${pastMoment(end, now)}` : `held until ${formatTime(end, now)}`;
}

/** A command that releases the lock without this action. It contains a placeholder for the token. */
export function manualReleaseCommand({ service, workspace, path, lock }: Grant): string {
  const tag = conditionOf(lock);
  const condition = tag === undefined ? '' : ` -H ${shellQuoted(`If-Match: ${tag}`)}`;
  const url = `${service}/workspaces/${encodeURIComponent(workspace)}/locks/${asOneSegment(path)}`;
  return `curl -X DELETE -H 'Authorization: Bearer <API_TOKEN>'${condition} ${shellQuoted(url)}`;
}
