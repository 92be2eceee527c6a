import { formatElapsed, formatTime, joinFirst, pluralize, timeCell } from '../../interface/format.ts';
import { mirrorAgeText, outdatedText } from '../../interface/outdated.ts';
import type { Outdated } from '../../interface/resources.ts';
import { type Acquisition, notAcquiredText } from '../../locks/acquire.ts';
import { type Grant, soonestExpiry } from '../../locks/ledger/entry.ts';
import type { TaskOf } from '../inputs/task.ts';
import { type FileAnnotation, failed, type Outcome, type Outputs } from '../report/outcome.ts';
import { holderTable } from '../report/results.ts';
import type { Context } from '../step/context.ts';
import type { LookedUp } from './job-locks.ts';

/** Reason to end a step that cannot write the ledger, which its post-step needs. */
export class LedgerFailure extends Error {}

const noLocks: Outputs = { acquired: 'false', count: '0', locks: '[]' };

/** Earlier steps of this job have locked some of the paths. */
export function alreadyHeldOutcome(own: readonly LookedUp[]): Outcome {
  const names = joinFirst(own.map(({ ours }) => ours.grant.path));
  const holder = own[0]?.listed?.owner ?? own[0]?.ours.grant.lock.owner ?? '';
  const outputs: Outputs = { ...noLocks, status: 'held', holder, waited_seconds: '0' };
  return failed(
    outputs,
    `This job already holds ${names}. Name other paths, or release locks that are no longer needed with \`operation: unlock\` before this step.`,
  );
}

export function acquiredOutcome(
  context: Context,
  { workspace, 'auto-release': autoRelease }: TaskOf<'lock'>,
  grants: readonly Grant[],
  { waitedMs }: Acquisition,
): Outcome {
  const { client, compared, log } = context;
  const locks = grants.map(({ lock }) => lock);
  const what = locks.length === 1 ? (locks[0]?.path ?? '') : pluralize(locks.length, 'path');
  const soonest = soonestExpiry(locks);
  const until = Number.isNaN(soonest) ? '' : ` until ${formatTime(soonest, client.serverNow())}`;
  const waited = waitedMs > 0 ? ` after waiting for ${formatElapsed(waitedMs)}` : '';
  if (!autoRelease) log.line(outlivesText);
  const ages = compared.map(({ as_of }) => as_of).filter((asOf) => asOf !== undefined);
  const outdated = compared.flatMap((comparison) => comparison.outdated);
  const granted = new Set<string>(grants.map(({ path }) => path));
  const ofGrants = outdated.filter(({ path }) => granted.has(path));
  return {
    outputs: {},
    sentence: `Locked ${what} in ${workspace}${until}${waited}.`,
    lines: locks.map(({ path, expires_at }) => `${path} until ${expires_at}`),
    warnings: ages.slice(0, 1).map(mirrorAgeText),
    table: {
      head: ['Path', 'Until'],
      rows: locks.map(({ path, expires_at }) => [path, timeCell(expires_at)]),
    },
    failures: [],
    annotations: outdatedAnnotations(context, ofGrants, true),
  };
}

const outlivesText =
  'The locks outlive this job: `auto-release` is false. Release them with `unlock` and the output `locks` or `locks_file`.';

export function notAcquiredOutcome(
  context: Context,
  { wait }: TaskOf<'lock'>,
  result: Exclude<Acquisition, { kind: 'acquired' }>,
  isAllReleased: boolean,
): Outcome {
  const outputs: Outputs = { ...noLocks, waited_seconds: String(Math.floor(result.waitedMs / 1_000)) };
  const text = notAcquiredText(result, wait, context.client.serverNow(), (option) => `\`${option}\``);
  switch (result.kind) {
    case 'held': {
      const { conflicts } = result;
      const known = { ...outputs, status: 'held', holder: conflicts[0].holder?.owner ?? '' };
      return failed(known, text, holderTable(conflicts));
    }
    case 'cancelled':
      return failed(outputs, cancelText(context.signal.reason, isAllReleased));
    case 'too-short':
      return failed(outputs, text);
    case 'failed': {
      const { failure } = result.error;
      const { outdated = [] } = failure;
      return { ...failed(outputs, text), annotations: outdatedAnnotations(context, outdated, false) };
    }
  }
}

/** Annotations on files that have a newer version on another branch. */
const outdatedAnnotations = (
  { runner }: Context,
  files: readonly Outdated[],
  isWarning: boolean,
): readonly FileAnnotation[] =>
  [...new Map(files.map((outdated) => [outdated.path, outdated])).values()].map((outdated) => ({
    file: outdated.path,
    title: 'Outdated',
    text: outdatedText(outdated, runner.branch),
    isWarning,
  }));

/** Why the step was cancelled: by the runner, or because its ledger could not be written. */
function cancelText(reason: unknown, isAllReleased: boolean): string {
  const rest = isAllReleased
    ? 'It released all locks that it had acquired.'
    : 'The post-step releases any remaining locks.';
  return reason instanceof LedgerFailure
    ? `The ledger of this job's locks could not be written (${reason.message}). The step ended, because a kill could now leave locks behind. ${rest} Make sure that the runner's temporary folder is writable and has free space.`
    : `The step was cancelled. ${rest}`;
}
