import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { databaseFile, openSqlite } from '../../../src/service/storage/sqlite.ts';
import { databaseProblem } from '../../../src/service/storage/unavailable.ts';
import { ask, type RunningService, startTestService } from '../../support/running-service.ts';
import { runs } from '../../support/runs.ts';
import { storeWorkspace } from '../../support/stored-rows.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { locksOf } from '../http/shared-service.ts';

/** An empty database, and a second connection that locks out all other writers, like another process. */
async function openWithRival() {
  const folder = temporaryFolder();
  const storage = await openSqlite({ folder });
  const rival = new DatabaseSync(databaseFile(folder));
  onTestFinished(() => rival.close());
  return {
    storage,
    async hold(work: () => Promise<unknown>) {
      rival.exec('begin immediate');
      await work();
      rival.exec('commit');
    },
  };
}

/** The longest wait for a response during `work`, in milliseconds. */
async function slowestAnswerDuring(
  { baseUrl }: Pick<RunningService, 'baseUrl'>,
  work: () => Promise<unknown>,
): Promise<number> {
  let going = true;
  let slowest = 0;
  async function askAgainAndAgain(): Promise<void> {
    while (going) {
      const began = performance.now();
      await ask(baseUrl, 'GET', '/healthz');
      slowest = Math.max(slowest, performance.now() - began);
    }
  }
  const asking = askAgainAndAgain();
  try {
    await work();
  } finally {
    going = false;
    await asking;
  }
  return slowest;
}

test('answers requests while another process writes to the database, and acquires the lock afterwards', async () => {
  const { storage, hold } = await openWithRival();
  const service = await startTestService({ name: 'SQLite', open: async () => ({ storage, remove: storage.close }) });
  onTestFinished(service.stop);
  const { secret } = await service.token();
  const { take } = locksOf(service, await service.workspace(), secret);
  const heldMs = runs(1_000, 5_000);
  let taken: ReturnType<typeof take> | undefined;
  const slowest = await slowestAnswerDuring(service, () =>
    hold(async () => {
      taken = take('Content/Hero.uasset');
      await sleep(heldMs);
    }),
  );
  expect((await taken)?.status).toBe(201);
  // On a busy machine any request may be slow, but only one that waits for the other process takes all of this time.
  expect(slowest).toBeLessThan(runs(heldMs / 2, 100));
});

test('gives up a change after another process has locked the database for ten seconds', async () => {
  const { storage, hold } = await openWithRival();
  onTestFinished(storage.close);
  const add = () => storeWorkspace(storage, { id: 'game' });
  const began = performance.now();
  await hold(async () => {
    const error = await add().catch((error: unknown) => error);
    expect(databaseProblem(error)).toBe('The database cannot be used: the database is busy with another process.');
  });
  expect(performance.now() - began).toBeGreaterThanOrEqual(10_000);
  expect(await add()).toBe(true);
});
