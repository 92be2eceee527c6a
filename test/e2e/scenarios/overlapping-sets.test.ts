import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLocking } from '../../support/fault-proxy.ts';
import { measured } from '../../support/measured.ts';
import { fasterTime } from '../../support/preload.ts';
import { everyForm, runs } from '../../support/runs.ts';
import { locking, soak } from './place.ts';
import { openStage, useService } from './stage.ts';

useService();

const jobCount = soak ? 8 : 4;
const rounds = runs(everyForm ? 3 : 2, 20);

test(`${jobCount} jobs that lock overlapping sets, ${rounds} times each, all finish, and no two hold a path at a time`, {
  timeout: 900_000,
}, async () => {
  const stage = await openStage();
  const proxy = await stage.proxy({ retryAfter: null });
  const paths = ['a', 'b', 'c', 'd', 'e', 'f'];
  const holders = new Map<string, string>();
  const fences = new Map<string, number>();
  const shared: string[] = [];
  let locked = 0;
  const times = 4;

  const round = async (name: string, wanted: readonly string[]): Promise<void> => {
    const job = await stage.job();
    const step = { ...locking(wanted, { wait: '1h', ttl: '2h' }), env: { NODE_OPTIONS: fasterTime(times) } };
    const result = await job.run(step);
    expect(result).toMatchObject({ conclusion: 'success', outputs: { count: String(wanted.length) } });
    const mine = new Map(
      JSON.parse(result.outputs['locks'] ?? '').map((lock: { path: string; id: string }) => [lock.path, lock.id]),
    );
    for (const path of wanted) {
      const other = holders.get(path);
      if (other !== undefined) shared.push(`${path} is held by ${other} and ${name}.`);
      holders.set(path, name);
    }
    for (const lock of await stage.locks()) {
      if (!mine.has(lock.path)) continue;
      expect(lock.id).toBe(mine.get(lock.path));
      if (lock.fence <= (fences.get(lock.path) ?? 0)) shared.push(`${lock.path} has the fence ${lock.fence} again.`);
      fences.set(lock.path, lock.fence);
    }
    for (const path of wanted) holders.delete(path);
    locked += 1;
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
    await job.end();
  };

  const sets = fc.sample(fc.shuffledSubarray(paths, { minLength: 2, maxLength: 5 }), {
    numRuns: jobCount * rounds,
    seed: 11,
  });
  const began = performance.now();
  await Promise.all(
    Array.from({ length: jobCount }, async (_, job) => {
      for (let number = 0; number < rounds; number += 1) {
        await round(`job ${job}, round ${number}`, sets[job * rounds + number] ?? paths);
      }
    }),
  );
  const seconds = ((performance.now() - began) / 1_000) * times;
  measured('overlapping sets locked', locked, { exactly: runs(everyForm ? 12 : 8, 160) });
  measured('paths held concurrently, or with a lower fence', shared.length, { exactly: 0 }, shared);
  measured('lock requests per job and second', proxy.passed.filter(isLocking).length / (jobCount * seconds), {
    atMost: runs(20, 2),
  });
  expect(await stage.locks()).toEqual([]);
});

test('a job that locks two paths gets both, although others never let either of them be free', async () => {
  const stage = await openStage();
  const paths = ['a', 'b'];
  let isOver = false;
  let grants = 0;
  /** Takes turns with another client of the same kind, so that one of them always waits for the path. */
  async function keepBusy(path: string): Promise<void> {
    const address = `${stage.baseUrl}/workspaces/${stage.workspace}/locks`;
    const authorization = `Bearer ${stage.token}`;
    while (!isOver) {
      const taken = await fetch(address, {
        method: 'POST',
        headers: {
          authorization,
          'content-type': 'application/json',
          prefer: 'wait=30',
          'idempotency-key': randomUUID(),
        },
        body: JSON.stringify({ path, type: 'exclusive', ttl: '1h' }),
      });
      if (taken.status !== 201) continue;
      grants += 1;
      await sleep(20);
      const released = await fetch(`${address}/${path}`, {
        method: 'DELETE',
        headers: { authorization, 'if-match': taken.headers.get('etag') ?? '' },
      });
      expect(released.status).toBe(204);
    }
  }
  const others = Promise.all([...paths, ...paths].map(keepBusy));
  await expect.poll(() => grants).toBeGreaterThan(10);
  const job = await stage.job();
  const result = await job.run(locking(paths, { wait: '2m' }));
  isOver = true;
  expect(result).toMatchObject({ conclusion: 'success', outputs: { count: '2' } });
  await job.post();
  await others;
});
