import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openPostgres } from '../../src/service/storage/postgres.ts';
import { leaveOut } from '../support/left-out.ts';
import { measured } from '../support/measured.ts';
import { runs } from '../support/runs.ts';
import { printedSeed, randomOf } from '../support/seed.ts';
import { runCommand } from '../support/service-process.ts';
import { storeWorkspace } from '../support/stored-rows.ts';
import { makeChaos, startInstances } from './chaos.ts';
import { hasGo, type LockOperation, notLinearizable } from './linearizability/check.ts';
import { emptyBook, type Race, raceForLocks } from './racers.ts';

const clients = 16;
const paths = 20;
const workspace = 'game';
/** The duration before the restore, and again after it. */
const durationMs = runs(6_000, 30_000);
/** The maximum wait for the leases of killed instances. */
const timeoutMs = 120_000;

/** Measures the time from before the command until after it. */
async function timed(work: () => Promise<unknown>): Promise<Pick<LockOperation, 'call' | 'return'>> {
  const call = Date.now();
  await work();
  return { call, return: Date.now() + 1 };
}

test('keeps the lock history linearizable across killed instances, a backup and its restore', {
  timeout: 2 * durationMs + timeoutMs,
}, async (context) => {
  if (!hasGo()) leaveOut(context, 'There is no Go on this machine, in which the checker is written.');

  const random = randomOf(printedSeed('The race and the kills are of a seed'));
  const place = await startInstances(context, 2, random);
  const { folder, cluster, fleet, killAll, base } = place;
  const storage = await openPostgres({ url: cluster.url, onIdleError: () => undefined });
  await storeWorkspace(storage, { id: workspace });
  await storage.close();

  const book = emptyBook();
  const traffic = { requests: 0, lostAnswers: 0, proven: 0 };
  async function race(): Promise<number> {
    const end = performance.now() + durationMs;
    const all: Race = {
      base,
      token: fleet.token,
      workspace,
      paths,
      traffic,
      book,
      isOver: () => performance.now() > end,
    };
    const [{ kills }] = await Promise.all([
      makeChaos(place, durationMs, [], random),
      ...Array.from({ length: clients }, (_, client) => raceForLocks(all, client, random)),
    ]);
    return kills;
  }
  const file = join(folder, 'game.backup');
  async function command(...args: readonly string[]): Promise<void> {
    const environment = { DATABASE_URL: cluster.url };
    const result = await runCommand(args, { folder: join(folder, 'operator'), environment });
    expect(result, result.stderr).toMatchObject({ code: 0 });
  }
  /** Adds an operation on all paths that no client requested. */
  const noteOnAll = (kind: LockOperation['kind'], at: Pick<LockOperation, 'call' | 'return'>): void => {
    for (const path of new Set(book.operations.map((each) => each.path))) {
      book.operations.push({ path, client: clients, kind, id: '', fence: 0, ...at });
    }
  };

  const running = race();
  await sleep(durationMs / 2);
  const backedUp = await timed(() => command('backup', file));
  const kills = await running;
  noteOnAll('backed-up', backedUp);
  await killAll();
  const expiring = book.operations.filter(({ kind }) => kind === 'expired');
  const restored = await timed(() => command('restore', '--replace', file));
  noteOnAll('restored', restored);
  // A short lock may be in the backup: its ttl kept running.
  for (const lock of expiring) {
    expect(lock.return).toBeLessThan(restored.return);
    book.operations.push({ ...lock, kind: 'released-or-gone', call: restored.return, return: restored.return + 1 });
  }
  await Promise.all([0, 1].map((index) => fleet.start(index)));
  const before = book.grants.size;
  const killsAfter = await race();

  measured('instances killed before or after the restore', kills + killsAfter, { atLeast: 1 });
  measured('locks granted before the restore', before, { atLeast: runs(4, 100) });
  measured('locks granted after the restore', book.grants.size - before, { atLeast: runs(4, 100) });
  const wrong = notLinearizable(book.operations);
  measured('paths with a history that is not linearizable', wrong.length, { exactly: 0 }, wrong.slice(0, 10));
  expect(book.violations).toEqual([]);
  expect(await fleet.stop()).toEqual([0, 0]);
});
