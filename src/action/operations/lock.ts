import { writeFileSync } from 'node:fs';
import { type CallLimits, ServiceError } from '../../client/client.ts';
import type { Duration } from '../../interface/duration.ts';
import {
  clockTime,
  formatElapsed,
  formatNumber,
  formatTime,
  joinFirst,
  pluralize,
  timeCell,
} from '../../interface/format.ts';
import { byPath, type LockPath } from '../../interface/lock-path.ts';
import { type AcquireAllResult, acquireLocks } from '../../locks/acquire.ts';
import { type Grant, soonestEnd } from '../../locks/ledger/entry.ts';
import { readJobLocks } from '../../locks/ledger/history.ts';
import { lockJson, locksFile, type Recorder } from '../../locks/ledger/ledger.ts';
import { type Blocked, blockedText, pastMoment, unansweredText } from '../../locks/messages.ts';
import type { AlreadyHeld } from '../../locks/ownership.ts';
import { rollBackInTime } from '../../locks/roll-back.ts';
import { openLockSession } from '../../locks/session.ts';
import { InputError } from '../inputs/input-error.ts';
import type { TaskOf } from '../inputs/read-task.ts';
import { alreadyHeldText, blockedAdvice, stepText } from '../locks/advice.ts';
import { findOutdated, outdatedAnnotations, warnOfAge } from '../locks/compare.ts';
import { findAlreadyHeld, warnOfLostLocks } from '../locks/job-locks.ts';
import { rollBackTexts } from '../locks/roll-back-texts.ts';
import { resolvePaths } from '../paths/resolve-paths.ts';
import { maskedProperties, openPoolOfStep, type Properties } from '../paths/step-pool.ts';
import type { Renewal } from '../renewal/start.ts';
import { failed, type Outcome, type Outputs, succeeded } from '../report/outcome.ts';
import { holderTable, locksPage } from '../report/table.ts';
import { fitsVariable } from '../report/variable.ts';
import { type Context, defaultLimits } from '../step/context.ts';
import { formatSavedState } from '../step/saved-state.ts';
import { locksOutput } from './locks-output.ts';

/** Locks all paths, or any N of them, or none. Waits up to `wait` while others hold them. */
export async function lock(context: Context, task: TaskOf<'lock'>): Promise<Outcome> {
  const { client, clock, connection, ledger, runner, record, saveState, log } = context;
  const { workspace, type, ttl } = task;
  const service = connection.baseUrl;
  const jobLocks = readJobLocks(ledger, service, workspace);
  const isLocked = (path: LockPath): boolean => jobLocks.held.has(path);
  const pool = task.from.kind === 'pool' ? await openPoolOfStep(context, task, task.from) : undefined;
  const resolved =
    task.from.kind === 'paths' ? await resolvePaths(task.from.paths, { ...runner, isLocked }) : undefined;
  const paths = pool?.paths ?? resolved?.paths.map(({ path }) => path) ?? [];
  const wanted = wantedOf(task.any, paths);
  if (resolved?.warning !== undefined) log.warn(resolved.warning);
  // Loaded on demand: no other step starts a process.
  const renewal = task.renew ? (await import('../renewal/start.ts')).prepareRenewal(context, task) : undefined;
  const step = crypto.randomUUID();
  const lockStep: LockStep = { context, task, step, paths, wanted, began: clock(), renewal };
  try {
    record({
      kind: 'plan',
      service,
      workspace,
      step,
      stepName: runner.stepName,
      paths,
      at: new Date(client.serverNow()).toISOString(),
    });
    warnOfLostLocks(context, jobLocks);
    const own = await findAlreadyHeld(context, jobLocks, workspace, paths);
    const others = withoutOwn(paths, own);
    if (others.length < wanted) return heldByThisJob(lockStep, own);

    let isSaved = false;
    // Between the first line of a request and the request itself: from here on, there may be locks to release.
    const recordAndSave: Recorder = (entry) => {
      record(entry);
      if (isSaved) return;
      isSaved = true;
      saveState('step', step);
      // The runner evaluates the inputs again for the post-step, but the value in this step counts.
      saveState('on-lost', task.onLost);
      log.debug(`The id of this step in the ledger is ${step}.`);
    };
    const session = openLockSession({ ...context, record: recordAndSave, step, origin: runner.origin });
    const terms = { service, workspace, type, ttl };
    const refresh =
      pool && (async (within: CallLimits) => ({ paths: withoutOwn(await pool.refresh(within), own), count: wanted }));
    const acquire = { ...context, session, terms, withoutWait: defaultLimits(context), refresh };
    const result = await acquireLocks(acquire, { paths: others, count: wanted }, task);
    const { round } = result;
    if (round.kind !== 'acquired') {
      const outcome = notAcquired(lockStep, round, result);
      const outdated = isOutdated(round) ? await findOutdated(context, workspace, paths) : [];
      return { ...outcome, annotations: outdatedAnnotations(context, outdated, false) };
    }
    let properties: Properties | undefined;
    try {
      properties = pool && maskedProperties(await pool.itemsOf(round.grants), context.mask);
    } catch (error) {
      // An item without its properties is of no use: the job may need its serial number or host.
      const back = await rollBackInTime(acquire, { acquired: round.grants, unanswered: [] });
      if (!(error instanceof ServiceError)) throw error;
      return notAcquired(lockStep, { kind: 'failed', error, back }, { ...result, lastBlocked: undefined });
    }
    // Awaited here, so that the renewal does not end before it has started.
    return await acquired(lockStep, round.grants, result, properties);
  } finally {
    renewal?.end();
  }
}

/** Whether the service refused a lock because another branch has a newer version of the file. */
const isOutdated = (round: AcquireAllResult['round']): boolean =>
  round.kind === 'failed' && round.error.failure.kind === 'refused' && round.error.failure.outdated !== undefined;

const withoutOwn = (paths: readonly LockPath[], own: readonly AlreadyHeld[]): readonly LockPath[] =>
  paths.filter((path) => !own.some((held) => held.path === path));

const maxNamed = 5;

function wantedOf(any: TaskOf<'lock'>['any'], paths: readonly LockPath[]): number {
  if (any === 'all') return paths.length;
  if (any <= paths.length) return any;
  const found = `\`path\` names only ${pluralize(paths.length, 'path')}: ${joinFirst(paths, maxNamed)}`;
  throw new InputError([`Input \`any\` is ${formatNumber(any)}, but ${found}. Add paths, or lower \`any\`.`]);
}

interface LockStep {
  readonly context: Context;
  readonly task: TaskOf<'lock'>;
  readonly step: string;
  readonly paths: readonly LockPath[];
  readonly wanted: number;
  readonly began: number;
  readonly renewal: Renewal | undefined;
}

const noLocks: Outputs = { acquired: 'false', count: '0', locks: '[]' };

function heldByThisJob({ context, task, paths, wanted }: LockStep, own: readonly AlreadyHeld[]): Outcome {
  const now = context.client.serverNow();
  const asked = { paths, count: wanted, ttl: task.ttl };
  const rows = own.map(({ path, stepName, expiresAt }) => [
    path,
    // Tables do not support code formatting.
    stepText(stepName).replaceAll('`', ''),
    Number.isNaN(expiresAt) ? '' : clockTime(expiresAt),
  ]);
  const outputs: Outputs = { ...noLocks, status: 'held', holder: own[0]?.owner ?? '', waited_seconds: '0' };
  const table = { head: ['Path', 'Locked by', 'Until'], rows };
  return {
    ...failed(outputs, alreadyHeldText(own, asked, now), table),
    sentence: alreadyHeldText(own, asked, now, true),
  };
}

async function acquired(
  lockStep: LockStep,
  unsorted: readonly Grant[],
  { waitedMs, unanswered }: AcquireAllResult,
  properties: Properties | undefined,
): Promise<Outcome> {
  const { context, task, step, began, renewal } = lockStep;
  const { client, log, clock, redact } = context;
  const sorted = inOrder(lockStep, unsorted);
  const grants = renewal === undefined ? sorted : await renewal.start(step, sorted);
  const now = client.serverNow();
  const locks = grants.map(({ lock }) => lock);
  const all = lockJson(locks, redact);
  const output = locksOutput(locks, (entries) => lockJson(entries, redact));
  const soonest = soonestEnd(locks);
  const waited = waitedMs > 0 ? ` after waiting for ${formatElapsed(waitedMs)}` : '';
  const what = locks.length === 1 ? (locks[0]?.path ?? '') : pluralize(locks.length, 'path');
  const sentence = (read?: number): string => {
    const until = Number.isNaN(soonest) ? '' : ` until ${formatTime(soonest, read)}`;
    return `Locked ${what} in ${task.workspace}${until}${waited}.`;
  };
  log.group(
    waitedMs > 0 ? sentence(now) : `${sentence(now)} It took ${formatElapsed(clock() - began)}.`,
    locks.map(({ path, expires_at }) => `${path} until ${expires_at}`),
  );
  for (const intent of unanswered) log.line(unansweredText(intent));
  if (!task.autoRelease) {
    const named = fitsVariable(output) ? 'output `locks`' : 'file in the output `locks_file`';
    log.line(`The locks outlive this job: \`auto-release\` is false. Release them with \`unlock\` and the ${named}.`);
  }
  const outputs: Outputs = {
    status: 'acquired',
    acquired: 'true',
    count: String(locks.length),
    holder: '',
    waited_seconds: String(Math.floor(waitedMs / 1_000)),
    locks: output,
    ...writeLocksFile(lockStep, all),
    ...(properties !== undefined && { properties: JSON.stringify(properties) }),
  };
  saveLocks(lockStep, grants, outputs);
  const rows = locks.map(({ path, expires_at }) => [path, timeCell(expires_at)]);
  const rest = locksPage(context.connection.baseUrl, task.workspace);
  warnOfAge(context, context.compared);
  const outdated = context.compared.flatMap((comparison) => comparison.outdated ?? []);
  const ofGrants = outdated.filter(({ path }) => grants.some((grant) => grant.path === path));
  return {
    ...succeeded(outputs, sentence(), { head: ['Path', 'Until'], rows, rest }),
    annotations: outdatedAnnotations(context, ofGrants, true),
  };
}

/** Sorted by path; with `any`, in the order of the input. */
function inOrder({ task, paths }: LockStep, grants: readonly Grant[]): readonly Grant[] {
  if (task.any === 'all') return grants.toSorted(byPath);
  const taken = new Map<string, Grant>(grants.map((grant) => [grant.path, grant]));
  // A pool may have grown during the wait.
  const added = grants.filter(({ path }) => !paths.some((each) => each === path));
  return [...paths.flatMap((path) => taken.get(path) ?? []), ...added];
}

function writeLocksFile({ context, step }: LockStep, locks: string): Outputs {
  const file = locksFile(context.runner.temporaryFolder, step);
  try {
    writeFileSync(file, locks, { mode: 0o600 });
    return { locks_file: file };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    context.log.warn(
      `Could not write the file of the locks: ${reason}. Use the output \`locks\` instead, unless it is empty because the list is too long.`,
    );
    return {};
  }
}

/** Informs the post-step that the step has all its locks, and whether to release them. */
function saveLocks({ context, task }: LockStep, grants: readonly Grant[], outputs: Outputs): void {
  const { connection, redact, saveState, setOutputs } = context;
  // The next job needs these outputs to release locks that outlive this one.
  if (!task.autoRelease) setOutputs(outputs);
  const about = { service: connection.baseUrl, workspace: task.workspace, outlivesJob: !task.autoRelease };
  saveState('locks', formatSavedState(about, grants, redact));
}

function notAcquired(
  { context, task, paths, wanted }: LockStep,
  round: Exclude<AcquireAllResult['round'], { kind: 'acquired' }>,
  { waitedMs, lastBlocked, unanswered }: AcquireAllResult,
): Outcome {
  const { client, log } = context;
  const now = client.serverNow();
  for (const text of rollBackTexts(round.back, paths.length, now)) log.line(text);
  for (const intent of unanswered) log.line(unansweredText(intent));
  const outputs: Outputs = {
    ...noLocks,
    waited_seconds: String(Math.floor(waitedMs / 1_000)),
  };
  function heldBy(blocked: Blocked, waited: Duration | undefined): Outcome {
    const advice = blockedAdvice(blocked, waited, now);
    const known = { ...outputs, status: 'held', holder: blocked.conflicts[0].holder?.owner ?? '' };
    const reason = `${blockedText(blocked, now)}. ${advice}`;
    return { ...failed(known, reason, holderTable(blocked.conflicts)), sentence: `${blockedText(blocked)}. ${advice}` };
  }
  switch (round.kind) {
    case 'held':
      return heldBy(round.blocked, task.wait.seconds > 0 ? task.wait : undefined);
    case 'cancelled': {
      const left = round.back.releases.filter(({ result }) =>
        ['ambiguous', 'unanswered', 'failed'].includes(result.kind),
      );
      const all = left.length + unanswered.length === 0;
      return failed(
        outputs,
        all
          ? 'The step was cancelled. It released all locks that it had acquired.'
          : 'The step was cancelled. Some of its locks could not be released in time: the post-step tries again.',
      );
    }
    case 'too-short': {
      const { path, lock } = round.ended;
      const reason = (read?: number): string =>
        `The lock on ${path} expired at ${pastMoment(Date.parse(lock.expires_at), read)}, before all ${pluralize(wanted, 'path')} were locked. Increase \`ttl\`: it must cover acquiring all locks and the rest of the job.`;
      return { ...failed(outputs, reason(now)), sentence: reason() };
    }
    case 'failed':
      // The end of the wait cut off the last attempt: report the obstacle before it.
      if (lastBlocked !== undefined && round.error.failure.kind === 'deadline') return heldBy(lastBlocked, task.wait);
      return failed(outputs, context.explain(round.error));
  }
}
