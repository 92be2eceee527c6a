import { expect, test } from 'vitest';
import { isReleasing } from '../../support/fault-proxy.ts';
import { locking, openStage, useService } from './stage.ts';

useService();

test('two lock steps and a composite action that is used twice each release their own locks, the last step first', async () => {
  const stage = await openStage();
  const proxy = await stage.proxy();
  const job = await stage.job();
  // The runner gives the steps of a composite action the same id each time it is used.
  await job.run({ ...locking('a'), id: 'first' });
  await job.run({ ...locking('b'), id: 'composite__lock' });
  await job.run({ ...locking(['c', 'd']), id: 'composite__lock' });
  expect(await stage.locks()).toHaveLength(4);

  const left: string[][] = [];
  for (let post = await job.nextPost(); post !== undefined; post = await job.nextPost()) {
    await expect(post.finished).resolves.toMatchObject({ conclusion: 'success', annotations: [] });
    left.push((await stage.locks()).map(({ path }) => path));
  }
  expect(left).toEqual([['a', 'b'], ['a'], []]);
  expect(proxy.passed.filter(isReleasing).every(({ status }) => status === 204)).toBe(true);
});

test('a second lock step on the same path contends with the first like a stranger, and releases nothing of it', async () => {
  const stage = await openStage();
  const job = await stage.job();
  await job.run(locking('a'));
  const lock = await stage.lockOn('a');
  await expect(job.run(locking(['a', 'b']))).resolves.toMatchObject({
    conclusion: 'failure',
    outputs: { status: 'held', holder: 'build-bot' },
  });
  const second = await job.nextPost();
  await second?.finished;
  expect(await stage.locks()).toEqual([lock]);
  await job.post();
  expect(await stage.locks()).toEqual([]);
});

test('a path that is locked anew after its lock has expired is released by the step that has it', async () => {
  const stage = await openStage();
  const job = await stage.job();
  await job.run(locking('a'));
  await stage.expire('a');
  await job.run(locking('a'));
  const [second, first] = await job.post();
  expect(second?.log).toContain('Released 1 lock at the end of the job.');
  expect(first).toMatchObject({ conclusion: 'success', annotations: [] });
  expect(await stage.locks()).toEqual([]);
});
