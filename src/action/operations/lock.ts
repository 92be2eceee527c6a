import { writeFileSync } from 'node:fs';
import { formatDuration } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { LockTask } from '../inputs/task.ts';
import type { GivenBack } from '../locks/give-back.ts';
import { heldText } from '../locks/holder-text.ts';
import { createKeeper } from '../locks/keeper.ts';
import type { Haul } from '../locks/take-all.ts';
import { waitAdvice } from '../locks/wait-advice.ts';
import { type Played, waitForAll } from '../locks/wait-for-all.ts';
import type { Outcome, Outputs } from '../outcome.ts';
import { clockTime, count, distance, duration, grouped } from '../report/words.ts';
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

function acquired(parts: Parts, task: LockTask, { taken }: Haul, waitedMs: number, tookMs: number): Outcome {
  const { client, log } = parts;
  const now = client.serverNow();
  const locks = taken.map(({ lock }) => lock).sort((one, other) => (one.path < other.path ? -1 : 1));
  const json = JSON.stringify(locks);
  const soonest = Math.min(...locks.map(({ expires_at }) => Date.parse(expires_at)));
  const waited = waitedMs > 0 ? ` after waiting for ${duration(waitedMs)}` : '';
  const until = Number.isNaN(soonest) ? '' : ` until ${clockTime(soonest, now)} (${distance(soonest, now)})`;
  const what = locks.length === 1 ? (locks[0]?.path ?? '') : count(locks.length, 'path');
  const sentence = `Locked ${what} in ${task.workspace}${until}${waited}.`;
  log.group(
    `${sentence} It took ${duration(tookMs)}.`,
    locks.map(({ path, expires_at }) => `${path} until ${expires_at}`),
  );
  if (!task.autoRelease)
    log.line('The locks outlive this job: `auto-release` is false. Release them with `unlock` and the output `locks`.');
  return {
    outputs: {
      status: 'acquired',
      acquired: 'true',
      count: String(locks.length),
      holder: '',
      waited_seconds: String(Math.floor(waitedMs / 1_000)),
      locks: json,
      ...writeLocksFile(parts, json),
    },
    sentence,
    tables: [
      {
        head: ['Path', 'Until', ''],
        rows: locks.map(({ path, expires_at }) => {
          const end = Date.parse(expires_at);
          return [path, clockTime(end, now), distance(end, now)];
        }),
      },
    ],
    failures: [],
    notes: [],
  };
}

/** What happened to the locks that were taken before it turned out that not all can be had. */
function backText({ taken, unclear }: Haul, back: GivenBack, asked: number, now: number): readonly string[] {
  const texts: string[] = [];
  const total = taken.length + unclear.length;
  if (total > 0 && asked > 1) {
    texts.push(
      `${count(taken.length, 'lock')} of ${grouped(asked)} had been taken; ${count(back.done.length, 'lock')} given back.`,
    );
  }
  for (const { grant, error } of back.failed) {
    texts.push(
      `The lock on ${grant.path} could not be given back and stays until ${clockTime(Date.parse(grant.lock.expires_at), now)}: ${error.message}`,
    );
  }
  for (const { intent } of back.unproven) {
    texts.push(
      `Whether ${intent.path} was locked by this step is not known: no answer was seen. If it was, the lock ends ${intent.ttl} after ${intent.at}.`,
    );
  }
  return texts;
}

function notAcquired(parts: Parts, task: LockTask, paths: readonly LockPath[], { round, waitedMs }: Played): Outcome {
  const { client, log } = parts;
  const now = client.serverNow();
  const outputs: Outputs = {
    acquired: 'false',
    count: '0',
    locks: '[]',
    waited_seconds: String(Math.floor(waitedMs / 1_000)),
  };
  const fail = (why: string, more: Outputs, tables: Outcome['tables'] = []): Outcome => ({
    outputs: { ...outputs, ...more },
    sentence: why,
    tables,
    failures: [why],
    notes: [],
  });
  if (round.kind === 'acquired') return fail('', {});
  for (const text of backText(round.haul, round.back, paths.length, now)) log.line(text);
  switch (round.kind) {
    case 'held': {
      const { path, holder } = round.holding;
      const advice =
        task.wait.seconds > 0
          ? `Waited ${formatDuration(task.wait)} for it. Raise \`wait\` to wait longer.`
          : waitAdvice(holder?.expires_at, now);
      return fail(`${heldText(path, holder, now)}. ${advice}`, { status: 'held', holder: holder?.owner ?? '' }, [
        {
          head: ['Path', 'Holder', 'Until', 'Taken by'],
          rows: [
            [
              path,
              holder?.owner ?? '',
              holder?.expires_at === undefined ? '' : clockTime(Date.parse(holder.expires_at), now),
              holder?.origin ?? '',
            ],
          ],
        },
      ]);
    }
    case 'cancelled':
      return fail('The step was cancelled; what it had locked has been given back.', {});
    case 'failed':
      return fail(round.error.message, {});
  }
}

/** Takes all paths or none, and waits for those that others hold as long as it was told to. */
export async function lock(
  parts: Parts,
  task: LockTask,
  paths: readonly LockPath[],
  service: string,
): Promise<Outcome> {
  const began = parts.clock();
  const keeper = createKeeper(parts, service, task);
  const played = await waitForAll(parts, keeper, paths, task.wait);
  const { round, waitedMs } = played;
  if (round.kind === 'acquired') return acquired(parts, task, round.haul, waitedMs, parts.clock() - began);
  return notAcquired(parts, task, paths, played);
}
