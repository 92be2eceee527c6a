import { type Duration, formatDuration } from '../../interface/duration.ts';
import { formatElapsed, formatNumber, formatTime, joinFirst, pluralize, timeCell } from '../../interface/format.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { mirrorAgeText, outdatedText } from '../../interface/outdated.ts';
import type { Outdated } from '../../interface/resources.ts';
import type { AcquireAllResult } from '../../locks/acquire.ts';
import { type Grant, soonestExpiry } from '../../locks/ledger/entry.ts';
import { type Blocked, blockedText, pastMoment, unansweredText } from '../../locks/messages.ts';
import type { AlreadyHeld } from '../../locks/ownership.ts';
import type { RollbackResult } from '../../locks/rollback.ts';
import type { TaskOf } from '../inputs/task.ts';
import { type FileAnnotation, failed, fitsVariable, type Outcome, type Outputs, succeeded } from '../report/outcome.ts';
import { holderTable, locksPage } from '../report/results.ts';
import type { Context } from '../step/context.ts';

export interface LockStep {
  readonly context: Context;
  readonly task: TaskOf<'lock'>;
  readonly step: string;
  readonly paths: readonly LockPath[];
  readonly wanted: number;
  readonly startedAt: number;
}

const noLocks: Outputs = { acquired: 'false', count: '0', locks: '[]' };

export function alreadyHeldOutcome({ context, paths, wanted }: LockStep, own: readonly AlreadyHeld[]): Outcome {
  const text = (now?: number): string => alreadyHeldText(own, paths.length - wanted, now);
  const outputs: Outputs = { ...noLocks, status: 'held', holder: own[0]?.owner ?? '', waited_seconds: '0' };
  return { ...failed(outputs, text(context.client.serverNow())), sentence: text() };
}

const maxNamed = 3;

/** The steps that hold the locks, until when, and what to do. `spare` is the number of paths that `any` leaves over. */
function alreadyHeldText(own: readonly AlreadyHeld[], spare: number, now?: number): string {
  const steps = [...new Set(own.map(({ stepName }) => stepText(stepName)))].join(' and ');
  const soonest = own.reduce((earliest, { expiresAt }) => Math.min(earliest, expiresAt), Number.POSITIVE_INFINITY);
  const until = Number.isNaN(soonest) ? '' : `, until ${formatTime(soonest, now)}`;
  const names = joinFirst(
    own.map(({ path }) => path),
    maxNamed,
  );
  const what = spare > 0 ? 'Name more paths for `any`' : 'Leave them out of this step';
  return `This job already holds ${names}: ${steps} locked ${own.length === 1 ? 'it' : 'them'}${until}. ${what}, or release locks that are no longer needed with \`operation: unlock\` before it.`;
}

/** The runner generates a name for a step without an id. Such names start with two underscores. */
function stepText(name: string | undefined): string {
  if (name === undefined) return 'an earlier step';
  return name.startsWith('__') ? `an earlier step without an \`id\` (${name})` : `the step \`${name}\``;
}

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
  const { client, log, clock, compared, connection } = context;
  const now = client.serverNow();
  const locks = grants.map(({ lock }) => lock);
  const soonest = soonestExpiry(locks);
  const waited = waitedMs > 0 ? ` after waiting for ${formatElapsed(waitedMs)}` : '';
  const what = locks.length === 1 ? (locks[0]?.path ?? '') : pluralize(locks.length, 'path');
  const sentence = (read?: number): string => {
    const until = Number.isNaN(soonest) ? '' : ` until ${formatTime(soonest, read)}`;
    return `Locked ${what} in ${task.workspace}${until}${waited}.`;
  };
  log.group(
    waitedMs > 0 ? sentence(now) : `${sentence(now)} It took ${formatElapsed(clock() - startedAt)}.`,
    locks.map(({ path, expires_at }) => `${path} until ${expires_at}`),
  );
  for (const intent of unanswered) log.line(unansweredText(intent));
  if (!task.autoRelease) {
    const named = fitsVariable(outputs.locks ?? '') ? 'output `locks`' : 'file in the output `locks_file`';
    log.line(`The locks outlive this job: \`auto-release\` is false. Release them with \`unlock\` and the ${named}.`);
  }
  const rows = locks.map(({ path, expires_at }) => [path, timeCell(expires_at)]);
  const rest = locksPage(connection.baseUrl, task.workspace);
  const old = compared.find(({ as_of }) => as_of !== undefined);
  if (old?.as_of !== undefined) log.warn(mirrorAgeText(old.as_of));
  const outdated = compared.flatMap((comparison) => comparison.outdated ?? []);
  const ofGrants = outdated.filter(({ path }) => grants.some((grant) => grant.path === path));
  return {
    ...succeeded(outputs, sentence(), { head: ['Path', 'Until'], rows, rest }),
    annotations: outdatedAnnotations(context, ofGrants, true),
  };
}

export function notAcquiredOutcome(
  { context, task, paths, wanted }: LockStep,
  round: Exclude<AcquireAllResult['round'], { kind: 'acquired' }>,
  { waitedMs, unanswered }: AcquireAllResult,
  /** Why the ledger could not be written, which ended the step. */
  ledgerFailure?: string,
): Outcome {
  const { client, log } = context;
  const now = client.serverNow();
  const text = rollBackText(round.rollback, paths.length);
  if (text !== undefined) log.line(text);
  for (const intent of unanswered) log.line(unansweredText(intent));
  const outputs: Outputs = { ...noLocks, waited_seconds: String(Math.floor(waitedMs / 1_000)) };
  switch (round.kind) {
    case 'held': {
      const { blocked } = round;
      const advice = adviceText(blocked, task.wait);
      const known = { ...outputs, status: 'held', holder: blocked.conflicts[0].holder?.owner ?? '' };
      const reason = `${blockedText(blocked, now)}. ${advice}`;
      return {
        ...failed(known, reason, holderTable(blocked.conflicts)),
        sentence: `${blockedText(blocked)}. ${advice}`,
      };
    }
    case 'cancelled': {
      const all = remainingIn(round.rollback.releases) + unanswered.length === 0;
      if (ledgerFailure !== undefined) return failed(outputs, ledgerText(ledgerFailure, all));
      return failed(
        outputs,
        all
          ? 'The step was cancelled. It released all locks that it had acquired.'
          : 'The step was cancelled. Some of its locks could not be released in time: the post-step tries again.',
      );
    }
    case 'too-short': {
      const { path, expires_at } = round.expired;
      const reason = (read?: number): string =>
        `The lock on ${path} expired at ${pastMoment(Date.parse(expires_at), read)}, before all ${pluralize(wanted, 'path')} were locked. Increase \`ttl\`: it must cover acquiring all locks and the rest of the job.`;
      return { ...failed(outputs, reason(now)), sentence: reason() };
    }
    case 'failed': {
      const { failure, message } = round.error;
      const outdated = failure.kind === 'refused' ? (failure.outdated ?? []) : [];
      return { ...failed(outputs, message), annotations: outdatedAnnotations(context, outdated, false) };
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

const ledgerText = (reason: string, all: boolean): string =>
  `The ledger of this job's locks could not be written (${reason}), so they could not be released for certain after a kill. ${all ? 'Nothing stays locked.' : 'Some locks could not be released in time: the post-step tries again.'} Make sure that the runner's temporary folder is writable and has free space.`;

/** Counts the locks that were acquired before one could not be. */
export function rollBackText({ releases }: RollbackResult, pathCount: number): string | undefined {
  if (releases.length === 0) return undefined;
  const released = releases.filter(({ result }) => result.kind === 'released' || result.kind === 'absent').length;
  const locked = `${formatNumber(releases.length)} of ${pluralize(pathCount, 'path')} had been locked`;
  const lost = releases.filter(({ result }) => result.kind === 'other').map(({ grant }) => grant.path);
  const gone = lost.length === 0 ? '' : `; lost before they could be released: ${joinFirst(lost)}`;
  const rest = remainingIn(releases) === 0 ? '' : '; the post-step tries to release the others';
  return `${locked}; ${pluralize(released, 'was', 'were')} released again${gone}${rest}.`;
}

const remainingIn = (releases: RollbackResult['releases']): number =>
  releases.filter(({ result }) => ['ambiguous', 'failed'].includes(result.kind)).length;
