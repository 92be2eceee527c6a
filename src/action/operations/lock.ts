import { writeFileSync } from 'node:fs';
import { formatDuration } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { LockTask } from '../inputs/task.ts';
import type { Grant } from '../ledger/entry.ts';
import { keptText } from '../ledger/kept.ts';
import { concealedJson } from '../ledger/ledger.ts';
import { createRecorder } from '../ledger/recorder.ts';
import { type AlreadyHeld, alreadyHeldText, findAlreadyHeld, stepText } from '../locks/already-held.ts';
import { heldText } from '../locks/holder-text.ts';
import type { Holding } from '../locks/keeper.ts';
import { createKeeper, createTaker } from '../locks/keeper.ts';
import { backTexts, unprovenText } from '../locks/left-behind.ts';
import { pastMoment } from '../locks/past-moment.ts';
import { waitAdvice } from '../locks/wait-advice.ts';
import { type Played, waitForAll } from '../locks/wait-for-all.ts';
import { failed, type Outcome, type Outputs, type Table } from '../outcome.ts';
import { clockTime, count, distance, duration, moment } from '../report/words.ts';
import type { Parts } from './parts.ts';

function writeLocksFile({ locksFile, log }: Parts, locks: string): Outputs {
  try {
    writeFileSync(locksFile, locks, { mode: 0o600 });
    return { locks_file: locksFile };
  } catch (error) {
    log.warn(`The file with the locks could not be written: ${error instanceof Error ? error.message : String(error)}`);
    return {};
  }
}

interface LockStep {
  readonly parts: Parts;
  readonly task: LockTask;
  readonly service: string;
  readonly paths: readonly LockPath[];
  readonly began: number;
}

/** From here on the post-step knows that the step has got all its locks, and whether it has to release them. */
function hand({ parts, task, service }: LockStep, grants: readonly Grant[], outputs: Outputs): void {
  const { conceal, keep, publish } = parts;
  // Locks that outlive the job are of use to somebody only once that somebody can learn of them.
  if (!task.autoRelease) publish(outputs);
  keep(keptText({ service, workspace: task.workspace, handedOn: !task.autoRelease }, grants, conceal));
}

function acquired(lockStep: LockStep, taken: readonly Grant[], { waitedMs, unproven }: Played): Outcome {
  const { parts, task, began } = lockStep;
  const { client, log, conceal } = parts;
  const now = client.serverNow();
  const grants = taken.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  const locks = grants.map(({ lock }) => lock);
  const json = concealedJson(locks, conceal);
  const soonest = Math.min(...locks.map(({ expires_at }) => Date.parse(expires_at)));
  const waited = waitedMs > 0 ? ` after waiting for ${duration(waitedMs)}` : '';
  const until = Number.isNaN(soonest) ? '' : ` until ${moment(soonest, now)}`;
  const what = locks.length === 1 ? (locks[0]?.path ?? '') : count(locks.length, 'path');
  const sentence = `Locked ${what} in ${task.workspace}${until}${waited}.`;
  log.group(
    `${sentence} It took ${duration(parts.clock() - began)}.`,
    locks.map(({ path, expires_at }) => `${path} until ${expires_at}`),
  );
  for (const intent of unproven) log.line(unprovenText(intent));
  if (!task.autoRelease)
    log.line('The locks outlive this job: `auto-release` is false. Release them with `unlock` and the output `locks`.');
  const outputs: Outputs = {
    status: 'acquired',
    acquired: 'true',
    count: String(locks.length),
    holder: '',
    waited_seconds: String(Math.floor(waitedMs / 1_000)),
    locks: json,
    ...writeLocksFile(parts, json),
  };
  hand(lockStep, grants, outputs);
  const rows = locks.map(({ path, expires_at }) => {
    const end = Date.parse(expires_at);
    return [path, clockTime(end, now), distance(end, now)];
  });
  return { outputs, sentence, tables: [{ head: ['Path', 'Until', ''], rows }], failures: [], notes: [] };
}

const holderTable = ({ path, holder }: Holding, now: number): Table => ({
  head: ['Path', 'Holder', 'Until', 'Taken by'],
  rows: [
    [
      path,
      holder?.owner ?? '',
      holder?.expires_at === undefined ? '' : clockTime(Date.parse(holder.expires_at), now),
      holder?.origin ?? '',
    ],
  ],
});

const noLocks: Outputs = { acquired: 'false', count: '0', locks: '[]' };

function notAcquired(
  { parts, task, paths }: LockStep,
  round: Exclude<Played['round'], { kind: 'acquired' }>,
  { waitedMs, lastHolding, unproven }: Played,
): Outcome {
  const { client, log } = parts;
  const now = client.serverNow();
  for (const text of backTexts(round.back, paths.length, now)) log.line(text);
  for (const intent of unproven) log.line(unprovenText(intent));
  const outputs: Outputs = {
    ...noLocks,
    waited_seconds: String(Math.floor(waitedMs / 1_000)),
  };
  const heldBy = (holding: Holding, why: string): Outcome =>
    failed(
      { ...outputs, status: 'held', holder: holding.holder?.owner ?? '' },
      `${heldText(holding.path, holding.holder, now)}. ${why}`,
      holderTable(holding, now),
    );
  const waited = `Waited ${formatDuration(task.wait)} for it. Raise \`wait\` to wait longer.`;
  switch (round.kind) {
    case 'held': {
      const { holding } = round;
      const advice = task.wait.seconds > 0 ? waited : waitAdvice(holding.holder?.expires_at, now);
      return heldBy(holding, advice);
    }
    case 'cancelled': {
      const all = round.back.failed.length + round.back.leftAlone.length + unproven.length === 0;
      return failed(
        outputs,
        all
          ? 'The step was cancelled; what it had locked has been given back.'
          : 'The step was cancelled. Not all that it had locked could be given back in time: the end of the job tries again.',
      );
    }
    case 'too-short': {
      const { path, lock } = round.ended;
      return failed(
        outputs,
        `The lock on ${path} ended at ${pastMoment(Date.parse(lock.expires_at), now)}, before all ${count(paths.length, 'path')} were locked. Raise \`ttl\`: it has to be longer than that takes, and than the job needs.`,
      );
    }
    case 'failed':
      // The end of the wait cut off the last attempt: what was in the way before it is what there is to tell.
      if (lastHolding !== undefined && round.error.failure.kind === 'deadline') return heldBy(lastHolding, waited);
      return failed(outputs, round.error.message);
  }
}

function heldByThisJob({ parts, task, paths }: LockStep, own: readonly AlreadyHeld[]): Outcome {
  const now = parts.client.serverNow();
  const rows = own.map(({ path, stepName, expiresAt }) => [
    path,
    stepText(stepName),
    Number.isNaN(expiresAt) ? '' : clockTime(expiresAt, now),
  ]);
  return failed(
    { ...noLocks, status: 'held', holder: own[0]?.owner ?? '', waited_seconds: '0' },
    alreadyHeldText(own, { paths, ttl: task.ttl }, now),
    { head: ['Path', 'Locked by', 'Until'], rows },
  );
}

/** Takes all paths or none, and waits for those that others hold as long as it was told to. */
export async function lock(
  parts: Parts,
  task: LockTask,
  paths: readonly LockPath[],
  service: string,
): Promise<Outcome> {
  const record = createRecorder(parts.ledger, parts.log);
  const keeper = createKeeper(parts, record);
  const { workspace } = task;
  record({
    kind: 'wish',
    service,
    workspace,
    step: parts.step,
    stepName: parts.stepName,
    paths,
    at: new Date(parts.client.serverNow()).toISOString(),
  });
  const lockStep: LockStep = { parts, task, service, paths, began: parts.clock() };
  const own = await findAlreadyHeld(parts, service, workspace, paths);
  if (own.length > 0) return heldByThisJob(lockStep, own);
  const take = createTaker(parts, record, keeper, { ...task, service });
  const played = await waitForAll({ ...parts, workspace, keeper, take }, paths, task.wait);
  const { round } = played;
  return round.kind === 'acquired' ? acquired(lockStep, round.taken, played) : notAcquired(lockStep, round, played);
}
