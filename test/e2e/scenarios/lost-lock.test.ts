import { expect, test } from 'vitest';
import { isReleasing, pathByPath } from '../../support/fault-proxy.ts';
import { killAt } from './faults.ts';
import { hero, locking, openStage, openWithProxy, useService } from './stage.ts';

useService();

const hourMs = 3_600_000;

test('without any way to identify locks, one within its lifetime is released, and an older one is left alone', async () => {
  const stage = await openStage();
  const clock = await stage.clock();
  const proxy = await stage.proxy({ givesNoProof: true, saysNothing: true, looksAlike: true });
  const job = await stage.job();
  await job.run(locking(hero, { ttl: '1h' }));
  await job.run(locking('b', { ttl: '2h' }));
  await clock.pass(hourMs);
  expect(await stage.lockOn(hero)).toBeUndefined();
  const theirs = await stage.take(hero);
  const [within, past] = await job.post();
  expect(within).toMatchObject({ conclusion: 'success', annotations: [] });
  expect(past).toMatchObject({
    conclusion: 'success',
    annotations: [{ level: 'warning', message: expect.stringContaining('the current lock was left alone') }],
  });
  expect(proxy.passed.filter(isReleasing).map(({ path }) => path)).toEqual(['b']);
  expect(await stage.locks()).toEqual([theirs]);
});

test('a lost lock of a step that was killed before it had outputs does not fail the job', async () => {
  const { stage, proxy, job } = await openWithProxy(pathByPath);
  await killAt(proxy, job, locking(['a', 'b']), ({ path }) => path === 'b');
  await stage.expire('a');
  const theirs = await stage.takenByGrace('a');
  const lost = { level: 'warning', message: expect.stringMatching(/lost its lock on a/) };
  await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [lost] }]);
  expect(await stage.locks()).toEqual([theirs]);
});
