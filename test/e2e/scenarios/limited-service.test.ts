import { expect, test } from 'vitest';
import { pathByPath } from '../../support/fault-proxy.ts';
import { locking, manyPaths, openStage, useService } from './stage.ts';

/** So low that jobs which lock path by path reach it. */
useService({ rateLimit: { perSecond: 50, burst: 20 } });

test('jobs that reach the rate limit of their token get all their locks, and leave none behind', async () => {
  const stage = await openStage();
  const proxy = await stage.proxy(pathByPath);
  await Promise.all(
    [1, 2, 3, 4].map(async (number) => {
      const job = await stage.job();
      const lock = await job.run(locking(manyPaths(40).map((path) => `job-${number}/${path}`)));
      expect(lock, lock.log).toMatchObject({ conclusion: 'success', outputs: { status: 'acquired', count: '40' } });
      expect(await job.post()).toMatchObject([{ conclusion: 'success', annotations: [] }]);
    }),
  );
  expect(proxy.passed.filter(({ status }) => status === 429)).not.toEqual([]);
  expect(await stage.locks()).toEqual([]);
});

test('a job that is killed while it waits for the rate limit leaves no locks behind', async () => {
  const stage = await openStage();
  const proxy = await stage.proxy(pathByPath);
  const job = await stage.job();
  const step = await job.step(locking(manyPaths(1_000)));
  await expect.poll(() => proxy.passed.some(({ status }) => status === 429)).toBe(true);
  expect((await stage.locks()).length).toBeGreaterThan(0);
  await step.kill();
  await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
  expect(await stage.locks()).toEqual([]);
});
