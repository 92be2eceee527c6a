import { type Duration, formatDuration } from '../../interface/duration.ts';
import { formatElapsed, formatTime, joinFirst, pluralize, timeCell } from '../../interface/format.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { mirrorAgeText, outdatedText } from '../../interface/outdated.ts';
import type { Outdated } from '../../interface/resources.ts';
import type { AcquireAllResult } from '../../locks/acquire.ts';
import { type Grant, soonestExpiry } from '../../locks/ledger/entry.ts';
import { type Blocked, blockedText, pastMoment, unansweredText } from '../../locks/messages.ts';
import type { TaskOf } from '../inputs/task.ts';
import { type FileAnnotation, failed, fitsVariable, type Outcome, type Outputs } from '../report/outcome.ts';
import { holderTable, locksPage } from '../report/results.ts';
import type { Context } from '../step/context.ts';
import type { LookedUp } from './job-locks.ts';

export interface LockStep {
  readonly context: Context;
  readonly task: TaskOf<'lock'>;
  readonly step: string;
  readonly paths: readonly LockPath[];
  readonly wanted: number;
  readonly startedAt: number;
}

/** The reason to end a step that cannot write the ledger: its post-step needs it. */
export class LedgerFailure extends Error {}

const noLocks: Outputs = { acquired: 'false', count: '0', locks: '[]' };

/** Some paths are locked by earlier steps of this job. */
export function alreadyHeldOutcome(own: readonly LookedUp[]): Outcome {
  const locks = own.map(({ ours, listed }) => ({
    owner: listed?.owner ?? ours.grant.lock.owner,
    expires_at: listed?.expires_at ?? ours.grant.lock.expires_at,
  }));
  const names = joinFirst(
    own.map(({ ours }) => ours.grant.path),
    maxNamed,
  );
  const soonest = soonestExpiry(locks);
  const outputs: Outputs = { ...noLocks, status: 'held', holder: locks[0]?.owner ?? '', waited_seconds: '0' };
  return failed(outputs, (now) => {
    const until = Number.isNaN(soonest) ? '' : ` until ${formatTime(soonest, now)}`;
    return `This job already holds ${names}${until}. Name other paths, or release locks that are no longer needed with \`operation: unlock\` before this step.`;
  });
}

const maxNamed = 3;

function adviceText({ conflicts }: Blocked, waited: Duration): string {
  const object = conflicts.length === 1 ? 'it' : 'one of them';
  return waited.seconds === 0
    ? `Set \`wait\` to wait for ${object}.`
    : `Waited ${formatDuration(waited)} for ${object}. Increase \`wait\` to wait longer.`;
}

export function acquiredOutcome(
  { context, task, startedAt }: LockStep,
  grants: readonly Grant[],
  { waitedMs, unanswered }: AcquireAllResult,
  outputs: Outputs,
): Outcome {
  const { clock, compared, connection } = context;
  const locks = grants.map(({ lock }) => lock);
  const soonest = soonestExpiry(locks);
  const took = formatElapsed(waitedMs > 0 ? waitedMs : clock() - startedAt);
  const what = locks.length === 1 ? (locks[0]?.path ?? '') : pluralize(locks.length, 'path');
  const named = fitsVariable(outputs.locks ?? '') ? 'output `locks`' : 'file in the output `locks_file`';
  const outlivesText = `The locks outlive this job: \`auto-release\` is false. Release them with \`unlock\` and the ${named}.`;
  const ages = compared.map(({ as_of }) => as_of).filter((asOf) => asOf !== undefined);
  const outdated = compared.flatMap((comparison) => comparison.outdated);
  const ofGrants = outdated.filter(({ path }) => grants.some((grant) => grant.path === path));
  return {
    outputs,
    sentence(now) {
      const until = Number.isNaN(soonest) ? '' : ` until ${formatTime(soonest, now)}`;
      const locked = `Locked ${what} in ${task.workspace}${until}`;
      return waitedMs > 0 ? `${locked} after waiting for ${took}.` : `${locked}. It took ${took}.`;
    },
    lines: locks.map(({ path, expires_at }) => `${path} until ${expires_at}`),
    notes: [...unanswered.map(unansweredText), ...(task.autoRelease ? [] : [outlivesText])],
    warnings: ages.slice(0, 1).map(mirrorAgeText),
    table: {
      head: ['Path', 'Until'],
      rows: locks.map(({ path, expires_at }) => [path, timeCell(expires_at)]),
      rest: locksPage(connection.baseUrl, task.workspace),
    },
    failures: [],
    annotations: outdatedAnnotations(context, ofGrants, true),
  };
}

export function notAcquiredOutcome(
  { context, task, wanted }: LockStep,
  round: Exclude<AcquireAllResult['round'], { kind: 'acquired' }>,
  { waitedMs, unanswered }: AcquireAllResult,
): Outcome {
  const outputs: Outputs = { ...noLocks, waited_seconds: String(Math.floor(waitedMs / 1_000)) };
  const notes = unanswered.map(unansweredText);
  switch (round.kind) {
    case 'held': {
      const { blocked } = round;
      const advice = adviceText(blocked, task.wait);
      const known = { ...outputs, status: 'held', holder: blocked.conflicts[0].holder?.owner ?? '' };
      const reason = (now?: number) => `${blockedText(blocked, now)}. ${advice}`;
      return { ...failed(known, reason, holderTable(blocked.conflicts)), notes };
    }
    case 'cancelled': {
      const isAll = round.left.length + unanswered.length === 0;
      const { reason } = context.signal;
      const text = reason instanceof LedgerFailure ? ledgerText(reason.message, isAll) : cancelText(isAll);
      return { ...failed(outputs, text), notes };
    }
    case 'too-short': {
      const { path, expires_at } = round.expired;
      const reason = (now?: number): string =>
        `The lock on ${path} expired at ${pastMoment(Date.parse(expires_at), now)}, before all ${pluralize(wanted, 'path')} were locked. Increase \`ttl\`: it must cover acquiring all locks and the rest of the job.`;
      return { ...failed(outputs, reason), notes };
    }
    case 'failed': {
      const { failure, message } = round.error;
      const outdated = failure.kind === 'refused' ? (failure.outdated ?? []) : [];
      return { ...failed(outputs, message), notes, annotations: outdatedAnnotations(context, outdated, false) };
    }
  }
}

/** Annotations on files with a newer version on another branch than that of the run. */
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

const cancelText = (isAll: boolean): string =>
  isAll
    ? 'The step was cancelled. It released all locks that it had acquired.'
    : 'The step was cancelled. Some of its locks could not be released in time: the post-step tries again.';

const ledgerText = (reason: string, isAll: boolean): string =>
  `The ledger of this job's locks could not be written (${reason}), so they could not be released for certain after a kill. ${isAll ? 'Nothing stays locked.' : 'Some locks could not be released in time: the post-step tries again.'} Make sure that the runner's temporary folder is writable and has free space.`;
