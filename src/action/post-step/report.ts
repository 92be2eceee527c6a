import { responseClockMs } from '../../client/client.ts';
import { formatTime, pluralize } from '../../interface/format.ts';
import { asOneSegment } from '../../interface/lock-path.ts';
import { shellQuoted } from '../../interface/shell-word.ts';
import type { Grant, RunCancelled } from '../../locks/ledger/entry.ts';
import {
  cancelledText,
  heldText,
  howItEnded,
  lostRenewalText,
  pastMoment,
  unansweredText,
} from '../../locks/messages.ts';
import type { OnLost } from '../inputs/parse.ts';
import { type Outcome, ofKind } from '../report/outcome.ts';
import { locksPage, type PathResult, reportResults } from '../report/results.ts';
import type { CandidateResult } from './candidates.ts';

interface ReportOptions {
  readonly chart: string | undefined;
  /** The current time by the clock of the service. */
  readonly now: number;
  readonly onLost: OnLost;
  /** The attempt to cancel the run, if there was one. */
  readonly runCancelled?: RunCancelled | undefined;
}

export function releaseReport(
  results: readonly CandidateResult[],
  { chart, now, onLost, runCancelled }: ReportOptions,
): Outcome & { readonly warnings: readonly string[]; readonly lines: readonly string[] } {
  // All locks of a step are in the same workspace.
  const [about] = results.map((one) => ('grant' in one ? one.grant : one.intent));
  const released = ofKind(results, 'released').length;
  const report = reportResults(
    results.map(pathResult),
    {
      main: 'released',
      begin: `Released ${pluralize(released, 'lock')} at the end of the job`,
      rest: about && locksPage(about.service, about.workspace),
    },
    now,
  );
  const lost = ofKind(results, 'lost').toSorted(byPathOf);
  const cancelledTexts = onLost === 'cancel' && lost.length > 0 ? [cancelledText(runCancelled)] : [];
  return {
    ...report,
    outputs: {},
    sentence: results.length === 0 ? nothingLeft : report.sentence,
    chart,
    failures: onLost === 'warn' ? [] : [...lost.map((one) => lostText(one, now)), ...cancelledTexts],
    warnings: [
      ...(onLost === 'warn' && lost.length > 0 ? [several(lost, (one) => lostText(one, now))] : []),
      ...warningsOf(results.toSorted(byPathOf), now),
    ],
  };
}

const byPathOf = (one: CandidateResult, other: CandidateResult): number => (pathOf(one) < pathOf(other) ? -1 : 1);

function pathResult(one: CandidateResult): PathResult {
  const path = pathOf(one);
  switch (one.kind) {
    case 'released':
      return { path, result: 'released' };
    case 'already-ended':
      return { path, result: 'already gone' };
    case 'lost':
      return { path, result: 'lost', holder: one.holder };
    case 'left-alone':
      return one.why === 'no-proof'
        ? { path, result: 'left alone', until: one.grant.lock.expires_at }
        : { path, result: 'left alone', holder: one.holder };
    // The expiry of a lock matters only if it may still exist.
    case 'failed':
      return { path, result: 'not released', until: one.grant.lock.expires_at };
    case 'unanswered':
      return { path, result: 'may still be locked' };
  }
}

type ResultOf<Kind extends CandidateResult['kind']> = Extract<CandidateResult, { kind: Kind }>;

function lostText(lost: ResultOf<'lost'>, now: number): string {
  const { grant, holder, loss, renewalError, grantedAgain } = lost;
  const { path } = grant;
  const again = holder !== 'nobody' && grantedAgain ? `A later step of this job locked ${path} again.` : undefined;
  const end = expiryOf(lost);
  const hadExpired = loss === undefined ? hasExpired(lost, now) : end <= Date.parse(loss.at);
  const isOutage = renewalError !== undefined && hadExpired;
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

function warningsOf(results: readonly CandidateResult[], now: number): readonly string[] {
  const failed = ofKind(results, 'failed');
  const expired = ofKind(results, 'already-ended').filter((one) => hasExpired(one, now));
  const warnings = [
    failed.length > 0 ? failedText(failed, now) : '',
    several(ofKind(results, 'left-alone'), (one) => leftAloneText(one, now)),
    several(ofKind(results, 'unanswered'), ({ intent, reason }) => `${unansweredText(intent)} ${reason}`),
    several(expired, (one) => expiredText(one, now)) + (expired.length > 0 ? ' Increase `ttl` to cover the job.' : ''),
  ];
  return warnings.filter((text) => text !== '');
}

function failedText(failed: readonly ResultOf<'failed'>[], now: number): string {
  const [first] = failed;
  const each = several(failed, (one) => {
    const { path, lock } = one.grant;
    const about = [lock.id === undefined ? '' : `id ${lock.id}`, untilText(one, now)].filter((text) => text !== '');
    return `${path}${about.length > 0 ? ` (${about.join(', ')})` : ''}: ${manualReleaseCommand(one.grant)}.`;
  });
  const what = `${pluralize(failed.length, 'lock')} could not be released and will expire.`;
  const advice = `To release ${failed.length === 1 ? 'it' : 'them'} now:`;
  return `${what} ${first?.reason ?? ''} ${advice} ${each}`;
}

/** A command that releases the lock without this action, with a placeholder for the token. */
export function manualReleaseCommand({ service, workspace, path, lock }: Grant): string {
  const tag = lock.etag ?? (lock.id === undefined ? undefined : `"${lock.id}"`);
  const condition = tag === undefined ? '' : ` -H ${shellQuoted(`If-Match: ${tag}`)}`;
  const url = `${service}/workspaces/${encodeURIComponent(workspace)}/locks/${asOneSegment(path)}`;
  return `curl -X DELETE -H 'Authorization: Bearer <API_TOKEN>'${condition} ${shellQuoted(url)}`;
}

/** A warning is an annotation of the run: it names a few locks, and refers to the log for the others. */
const maxNamed = 5;

function several<One>(all: readonly One[], text: (one: One) => string): string {
  const more = all.length - maxNamed;
  const rest = more > 0 ? ` And ${pluralize(more, 'more', 'more')}: see the log of the step.` : '';
  return all.slice(0, maxNamed).map(text).join(' ') + rest;
}

const leftAloneText = (one: ResultOf<'left-alone'>, now: number): string =>
  one.why === 'ledger-damaged'
    ? `${heldText(one.grant.path, one.holder, now, true)}: that lock was left alone. The ledger is damaged or gone, so it is unknown whether this job had released its own lock.`
    : `The service gave no id or ETag to identify the lock on ${one.grant.path} (${untilText(one, now)}): the current lock was left alone.`;

const expiredText = (expired: ResultOf<'already-ended'>, now: number): string =>
  `The lock on ${expired.grant.path} expired at ${pastMoment(expiryOf(expired), now)}, before the job ended.`;

function untilText(result: CandidateResult, now: number): string {
  const end = expiryOf(result);
  if (Number.isNaN(end)) return '';
  return hasExpired(result, now) ? `expired at ${pastMoment(end, now)}` : `held until ${formatTime(end, now)}`;
}

const hasExpired = (result: CandidateResult, now: number): boolean => expiryOf(result) <= now + responseClockMs;

const expiryOf = (result: CandidateResult): number =>
  'grant' in result ? Date.parse(result.grant.lock.expires_at) : Number.NaN;

const pathOf = (result: CandidateResult): string => ('grant' in result ? result.grant.path : result.intent.path);

export const nothingLeft = 'Nothing was left to release at the end of the job.';
