import { describe, expect, test } from 'vitest';
import { isLocking, isReleasing, type Manner, once, pathByPath } from '../../support/fault-proxy.ts';
import { measured } from '../../support/measured.ts';
import { fasterTime } from '../../support/preload.ts';
import type { RunningStep, StepResult } from '../../support/runner/step.ts';
import { hero, locking, manyPaths, openStage, soak, useService } from './stage.ts';

useService();

/**
 * Five seconds are short on a busy machine: time passes slower for the step and the runner, and slowest in tests that
 * do not wait until the five seconds have passed.
 */
const waitingItOut = soak ? 1 : 1 / 3;
const endingBefore = soak ? 1 : 1 / 10;

async function openSlowed(times: number, manner?: Manner) {
  const stage = await openStage();
  const proxy = await stage.proxy(manner);
  const env = times === 1 ? {} : { NODE_OPTIONS: fasterTime(times) };
  return { stage, proxy, job: await stage.job({ env, patience: 1 / times }) };
}

/** Ends a step, and records how long that took. */
async function ending(
  step: RunningStep,
  how: (step: RunningStep) => Promise<StepResult>,
  times = endingBefore,
): Promise<StepResult> {
  const began = performance.now();
  const result = await how(step);
  measured('a canceled step ended after (s)', ((performance.now() - began) * times) / 1_000, { atMost: 5 });
  return result;
}

const cancel = (step: RunningStep) => step.cancel();
const terminate = (step: RunningStep) => {
  process.kill(step.pid, 'SIGTERM');
  return step.finished;
};
const kill = (step: RunningStep) => step.kill();

test.each([
  ['SIGINT', cancel],
  ['SIGKILL', kill],
])('a job that waits for a held path releases nothing that it did not acquire if it gets %s', async (_, how) => {
  const { stage, proxy, job } = await openSlowed(endingBefore);
  const theirs = await stage.take(hero);
  const step = await job.step(locking(['a', hero, 'z'], { wait: '10m' }));
  await step.waitForLog('is held by build-bot');
  await ending(step, how);
  const [post] = await job.post();
  expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
  expect(post?.log).toBe('Nothing was left to release at the end of the job.');
  expect(proxy.passed.filter(isReleasing).map(({ path }) => path)).not.toContain(hero);
  expect(await stage.locks()).toEqual([theirs]);
});

describe('a job whose lease was granted, without a response yet', () => {
  test.each([
    ['SIGINT', cancel],
    ['SIGTERM', terminate],
  ])('ends the lease by itself after %s, within 5 s', async (_, how) => {
    const { stage, proxy, job } = await openSlowed(endingBefore);
    proxy.meet(once(isLocking, { kind: 'done-then-silence' }));
    const step = await job.step(locking(manyPaths(1_000)));
    await expect.poll(() => stage.locks().then((locks) => locks.length)).toBe(1_000);
    const result = await ending(step, how);
    expect(await stage.locks()).toEqual([]);
    expect(result.log).toContain('The step was cancelled. It released all locks that it had acquired.');
    expect(result.outputs).toMatchObject({ acquired: 'false', count: '0', locks: '[]' });
    expect((await job.post())[0]?.log).toBe('Nothing was left to release at the end of the job.');
  });

  test('leaves it to the post-step if it is killed, even with auto-release: false', async () => {
    const { stage, proxy, job } = await openSlowed(endingBefore);
    proxy.meet(once(isLocking, { kind: 'done-then-silence' }));
    const step = await job.step(locking(manyPaths(1_000), { 'auto-release': 'false' }));
    await expect.poll(() => stage.locks().then((locks) => locks.length)).toBe(1_000);
    await step.kill();
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
    expect(await stage.locks()).toEqual([]);
  });

  test('takes nothing by a request that arrives after the post-step', async () => {
    const { stage, proxy, job } = await openSlowed(endingBefore);
    const over = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const holdBack = once(isLocking, { kind: 'held-back', until: over.promise });
    proxy.meet((passing) => {
      if (isLocking(passing)) arrived.resolve();
      return holdBack(passing);
    });
    const step = await job.step(locking(['a', 'b']));
    await arrived.promise;
    await step.kill();
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
    over.resolve();
    await expect.poll(() => proxy.passed.filter(isLocking).map(({ status }) => status)).toEqual([410]);
    expect(await stage.locks()).toEqual([]);
  });
});

test('a job that is locking a thousand paths rolls back by itself when cancelled, and ends within 5 s', async () => {
  const { stage, proxy, job } = await openSlowed(endingBefore, pathByPath);
  const some = Promise.withResolvers<void>();
  let count = 0;
  proxy.meet((passing) => {
    if (isLocking(passing)) count += 1;
    if (count === 40) some.resolve();
    return undefined;
  });
  const step = await job.step(locking(manyPaths(1_000)));
  await some.promise;
  const result = await ending(step, cancel);
  const taken = proxy.passed.filter((one) => isLocking(one) && one.status === 201);
  expect(new Set(taken.map(({ path }) => path)).size).toBeGreaterThanOrEqual(39);
  expect(await stage.locks()).toEqual([]);
  expect(result.log).toContain('The step was cancelled. It released all locks that it had acquired.');
  expect(result.outputs).toMatchObject({ acquired: 'false', count: '0', locks: '[]' });
  expect((await job.post())[0]?.log).toBe('Nothing was left to release at the end of the job.');
});

test('a post-step that is cancelled without a network ends within 5 s, and reports the locks that it could not release', async () => {
  const { proxy, job } = await openSlowed(waitingItOut);
  await job.run(locking([hero, 'b']));
  const asked = Promise.withResolvers<void>();
  proxy.meet(() => {
    asked.resolve();
    return { kind: 'silence' };
  });
  const post = await job.nextPost();
  if (post === undefined) throw new Error('There is no post-step.');
  await asked.promise;
  const result = await ending(post, cancel, waitingItOut);
  expect(result).toMatchObject({ exitCode: 0, signalsSent: ['SIGINT'] });
  expect(result.annotations.filter(({ by }) => by === 'action')).toMatchObject([
    { level: 'warning', message: expect.stringContaining('Some locks could not be released') },
  ]);
});
