import { conditionOf, type KnownLock } from '../../client/known-lock.ts';
import { responseClockMs } from '../../client/time.ts';
import { formatTime } from '../../interface/format.ts';
import { asOneSegment } from '../../interface/lock-path.ts';
import { shellQuoted } from '../../interface/shell-word.ts';
import type { Grant, Intent } from '../../locks/ledger/entry.ts';
import type { JobLock } from '../../locks/ledger/history.ts';
import { heldText, howItEnded, lostRenewalText, pastMoment, unansweredText } from '../../locks/messages.ts';
import type { PathResult } from '../report/results.ts';
import type { ReleaseCandidates } from './candidates.ts';

/** Results of the post-step for a path. `now` is the current time by the clock of the service. */
export const releasedResult = ({ path }: Pick<Grant, 'path'>): PathResult => ({ path, result: 'released' });

/** A lock that is gone without having been lost. The job may have relied on it beyond its expiry. */
export function goneResult({ path, lock }: Grant, now: number): PathResult {
  const end = Date.parse(lock.expires_at);
  if (end > now + responseClockMs) return { path, result: 'already gone' };
  return {
    ...{ path, result: 'already gone' },
    warning: {
      text: `The lock on ${path} expired at ${pastMoment(end, now)}, before the job ended.`,
      advice: 'Increase `ttl` to cover the job.',
    },
  };
}

/** `mayBeDone`: the request had no response, and is not repeated if nothing identifies the lock. */
export function notReleasedResult(grant: Grant, reason: string, now: number, mayBeDone = false): PathResult {
  const { path, lock } = grant;
  const about = [lock.id === undefined ? '' : `id ${lock.id}`, untilText(grant, now)].filter((text) => text !== '');
  const which = about.length > 0 ? ` (${about.join(', ')})` : '';
  return {
    ...{ path, result: mayBeDone ? 'may still be locked' : 'not released', until: lock.expires_at },
    warning: {
      reason: `Some locks ${mayBeDone ? 'may not have been released' : 'could not be released and will expire'}. ${reason} To release them now:`,
      text: `${path}${which}: ${manualReleaseCommand(grant)}.`,
    },
  };
}

export const unansweredResult = (intent: Pick<Intent, 'path' | 'ttl' | 'at'>, reason: string): PathResult => ({
  ...{ path: intent.path, result: 'may still be locked' },
  warning: { text: `${unansweredText(intent)} ${reason}` },
});

export const unidentifiedResult = (grant: Grant, now: number): PathResult => ({
  ...{ path: grant.path, result: 'left alone', until: grant.lock.expires_at },
  warning: {
    text: `The service gave no id or ETag to identify the lock on ${grant.path} (${untilText(grant, now)}): the current lock was left alone.`,
  },
});

/** `holder` is `nobody` if the path is free. The lock is lost, unless this job may have released it. */
export function replacedResult(
  candidate: JobLock,
  holder: KnownLock | 'nobody' | undefined,
  { ledgerError, renewalError }: Pick<ReleaseCandidates, 'ledgerError' | 'renewalError'>,
  now: number,
): PathResult {
  const { grant, mayBeReleased, loss } = candidate;
  const { path } = grant;
  // A lock whose renewal was refused was lost before anyone could have released it.
  if (loss !== undefined || !mayBeReleased) {
    return { path, result: 'lost', holder, failure: lostText(candidate, holder, renewalError, now) };
  }
  if (ledgerError === undefined || holder === 'nobody') return goneResult(grant, now);
  return {
    ...{ path, result: 'left alone', holder },
    warning: {
      text: `${heldText(path, holder, now, true)}: that lock was left alone.`,
      advice: 'The ledger is damaged or gone, so it is unknown whether this job had released its own lock.',
    },
  };
}

function lostText(
  { grant, loss, grantedAgain }: JobLock,
  holder: KnownLock | 'nobody' | undefined,
  renewalError: string | undefined,
  now: number,
): string {
  const { path, lock } = grant;
  const end = Date.parse(lock.expires_at);
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
    : `The lock on ${path} was lost while the job relied on it.${howItEnded(end, holder === 'nobody' ? undefined : holder, now)}`;
  if (holder === 'nobody') return `${how} Nobody holds ${path} now.`;
  // Without a response, the current holder of a lock that the process could not renew is unknown.
  if (loss !== undefined && holder === undefined && again === undefined) return how;
  return `${how} ${again ?? `${heldText(path, holder, now, true)}; that lock was left alone.`}`;
}

function untilText({ lock }: Grant, now: number): string {
  const end = Date.parse(lock.expires_at);
  if (Number.isNaN(end)) return '';
  return end <= now + responseClockMs ? `expired at ${pastMoment(end, now)}` : `held until ${formatTime(end, now)}`;
}

/** A command that releases the lock without this action, with a placeholder for the token. */
export function manualReleaseCommand({ service, workspace, path, lock }: Grant): string {
  const tag = conditionOf(lock);
  const condition = tag === undefined ? '' : ` -H ${shellQuoted(`If-Match: ${tag}`)}`;
  const url = `${service}/workspaces/${encodeURIComponent(workspace)}/locks/${asOneSegment(path)}`;
  return `curl -X DELETE -H 'Authorization: Bearer <API_TOKEN>'${condition} ${shellQuoted(url)}`;
}
