import { describe, expect, test } from 'vitest';
import { fasterTime } from '../../support/preload.ts';
import type { Job } from '../../support/runner/job.ts';
import type { StepResult } from '../../support/runner/step.ts';
import { useShippedService } from './shipped.ts';
import { locking, unlocking } from './stage.ts';
import { atEveryRequest, meetAt, troubles } from './trouble.ts';

const shipped = useShippedService();

const waiting = { wait: '45s' };

/** Far from all the time that it may wait, on a machine that is busy. */
const atOnceMs = 20_000;

const takeMaps = (job: Job, inputs = {}) => job.run({ ...locking(['a', 'b'], inputs), id: 'take-maps' });

const nextStep = (paths: readonly string[], inputs: Readonly<Record<string, string>> = waiting) => ({
  ...locking(paths, inputs),
  id: 'take-all',
});

function expectNamed(result: StepResult): void {
  expect(result.durationMs, result.log).toBeLessThan(atOnceMs);
  expect(result.log, 'the step that holds the path').toContain('take-maps');
  expect(result.log, 'what would not help').not.toContain('Raise `wait`');
  expect(result.log).not.toContain('Waiting,');
}

describe('a lock step that wants a path of an earlier step of its job', () => {
  test('that outlives the job ends at once, says which step has it, and leaves that step its locks', async () => {
    const place = await shipped.workspace();
    const job = await place.job();
    await expect(takeMaps(job, { 'auto-release': 'false' })).resolves.toMatchObject({ conclusion: 'success' });
    const held = await place.locks();
    const result = await job.run(nextStep(['0', 'b', 'c']));
    expectNamed(result);
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'held', acquired: 'false' } });
    expect(await place.locks()).toEqual(held);

    const posts = await job.post();
    for (const post of posts) expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(await place.locks()).toEqual(held);
  });

  test('gets it when that step has been undone by an unlock', async () => {
    const place = await shipped.workspace();
    const job = await place.job();
    await takeMaps(job);
    await expect(job.run(unlocking({ path: 'b', glob: 'false' }))).resolves.toMatchObject({ conclusion: 'success' });
    await expect(job.run(nextStep(['b', 'c']))).resolves.toMatchObject({ conclusion: 'success' });
    expect((await place.locks()).map(({ path }) => path)).toEqual(['a', 'b', 'c']);
    for (const post of await job.post()) expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(await place.locks()).toEqual([]);
  });

  test('waits for it when somebody else has it by now, and gets it', async () => {
    const place = await shipped.workspace();
    const job = await place.job();
    await takeMaps(job);
    await place.release('b');
    const theirs = await place.take('b', { token: place.graces });
    const step = await job.step(nextStep(['b', 'c']));
    await step.waitForLog(/held by grace/);
    expect((await place.lockOn('b'))?.id).toBe(theirs.id);
    await place.release('b');
    await expect(step.finished).resolves.toMatchObject({ conclusion: 'success', outputs: { status: 'acquired' } });
  });

  test('waits for another job that has another of its paths, and not for itself', async () => {
    const place = await shipped.workspace();
    const job = await place.job();
    await takeMaps(job);
    const theirs = await place.take('0');
    const result = await job.run(nextStep(['0', 'b']));
    expectNamed(result);
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { acquired: 'false' } });
    expect((await place.lockOn('0'))?.id).toBe(theirs.id);
  });

  test.each(troubles)(
    'and neither burns its wait nor takes from that step what it has, whichever of its requests %s',
    async (_, fault) => {
      const place = await shipped.workspace();
      const proxy = await place.proxy();
      const env = { NODE_OPTIONS: fasterTime(2) };
      await atEveryRequest(async (number) => {
        proxy.meet(() => undefined);
        const job = await place.job(proxy);
        await takeMaps(job);
        const held = await place.locks();
        const met = meetAt(proxy, number, fault, async () => undefined);
        const result = await job.run({ ...nextStep(['0', 'b', 'c']), env });
        await met.done();
        expectNamed(result);
        expect(result.conclusion).toBe('failure');
        expect(await place.locks()).toEqual(held);
        proxy.meet(() => undefined);
        for (const post of await job.post()) expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
        expect(await place.locks()).toEqual([]);
        return met;
      });
    },
  );
});

test('four siblings that wait for one path and work for a second and a half with it are all served, one at a time', {
  timeout: 120_000,
}, async () => {
  const place = await shipped.workspace();
  const theirs = await place.take('Content/Hero.uasset');
  const work = [process.execPath, '-e', 'setTimeout(() => {}, 1500)'] as const;
  let working = 0;
  let served = 0;
  const siblings = await Promise.all(
    [1, 2, 3, 4].map(async () => {
      const job = await place.job(undefined, { run: { runId: '77' } });
      return { job, step: await job.step(locking(theirs.path, { wait: '10m' })) };
    }),
  );
  await Promise.all(siblings.map(({ step }) => step.waitForLog(/Waiting/)));
  await place.release(theirs.path);
  await Promise.all(
    siblings.map(async ({ job, step }) => {
      const result = await step.finished;
      expect(result, result.log).toMatchObject({ conclusion: 'success', outputs: { status: 'acquired' } });
      working += 1;
      expect(working, 'siblings at work').toBe(1);
      await expect((await job.command({ command: work, id: 'work' })).finished).resolves.toMatchObject({ exitCode: 0 });
      working -= 1;
      served += 1;
      await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
    }),
  );
  expect(served).toBe(4);
  expect(await place.locks()).toEqual([]);
});
