import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLocking } from '../../support/fault-proxy.ts';
import { fasterTime } from '../../support/preload.ts';
import { everyForm, runs } from '../../support/runs.ts';
import { measured } from '../../support/soak/measured.ts';
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
  measured('overlapping sets locked', locked);
  measured('paths held concurrently, or with a lower fence', shared.length, shared);
  measured('lock requests per job and second', proxy.passed.filter(isLocking).length / (jobCount * seconds));
  expect(await stage.locks()).toEqual([]);
});
