import { describe, expect, test } from 'vitest';
import type { Manner } from '../../support/fault-proxy.ts';
import { forms } from '../../support/runs.ts';
import { locking, openStage, type Stage, unlocking, useService } from './stage.ts';

useService();

const hero = 'Content/Hero.uasset';

async function lockedByAnother(stage: Stage) {
  const other = await stage.job();
  await expect(other.run(locking(hero))).resolves.toMatchObject({ conclusion: 'success' });
  return stage.lockOn(hero);
}

const manners: readonly (readonly [string, Manner])[] = [
  ['with ETags', {}],
  ['with ids alone', { givesNoTag: true }],
  ['without ETags and ids', { givesNoProof: true }],
  ['that says nothing of a lock', { givesNoProof: true, saysNothing: true }],
];

describe.each(forms(manners, 0, 3))('with a service %s', (_, manner) => {
  test('a lock that was unlocked, and then taken by another job, stands when the first job ends', async () => {
    const stage = await openStage();
    await stage.proxy(manner);
    const first = await stage.job();
    await expect(first.run(locking(hero))).resolves.toMatchObject({ conclusion: 'success' });
    await expect(first.run(unlocking({ path: hero }))).resolves.toMatchObject({ outputs: { status: 'released' } });
    const theirs = await lockedByAnother(stage);

    const [unlockPost, lockPost] = await first.post();
    expect(lockPost).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(lockPost?.log).toContain('Nothing was left to release');
    expect(unlockPost).toMatchObject({ conclusion: 'success', log: '' });
    expect(await stage.lockOn(hero)).toEqual(theirs);
  });

  test('a second unlock of the path leaves the lock of another job alone', async () => {
    const stage = await openStage();
    await stage.proxy(manner);
    const first = await stage.job();
    await first.run(locking(hero));
    await first.run(unlocking({ path: hero }));
    const theirs = await lockedByAnother(stage);
    await expect(first.run(unlocking({ path: hero }))).resolves.toMatchObject({
      conclusion: 'success',
      outputs: { status: 'held', released: '[]' },
      annotations: [
        {
          level: 'warning',
          message: expect.stringMatching(
            /^Content\/Hero\.uasset is held by build-bot.*, and not by this job: it is left alone\. `force: true` would release it/,
          ),
        },
      ],
    });
    expect(await stage.lockOn(hero)).toEqual(theirs);
  });

  test('an unlock of a path that the job did not get leaves the lock of another job alone', async () => {
    const stage = await openStage();
    await stage.proxy(manner);
    const theirs = await lockedByAnother(stage);
    const job = await stage.job();
    await expect(job.run(locking(hero))).resolves.toMatchObject({ conclusion: 'failure', outputs: { status: 'held' } });
    const unlock = await job.run(unlocking({ path: hero }));
    expect(unlock).toMatchObject({ conclusion: 'success', outputs: { status: 'held', released: '[]' } });
    expect(unlock.log).toContain(`Nothing was released in ${stage.workspace}, 1 held by build-bot.`);
    expect(unlock.summary).toContain('held by build-bot');
    await job.post();
    expect(await stage.lockOn(hero)).toEqual(theirs);
  });
});

test('an unlock of a path that the job did not get is held where nobody tells it by whom', async () => {
  const stage = await openStage();
  const theirs = await lockedByAnother(stage);
  const proxy = await stage.proxy();
  const job = await stage.job();
  await job.run(locking(hero));
  proxy.meet(({ method }) => (method === 'GET' ? { kind: 'answer', status: 403 } : undefined));
  await expect(job.run(unlocking({ path: hero }))).resolves.toMatchObject({
    conclusion: 'success',
    outputs: { status: 'held', released: '[]' },
    annotations: [{ level: 'warning', message: expect.stringContaining('who has one cannot be seen') }],
  });
  expect(await stage.lockOn(hero)).toEqual(theirs);
});

test('an unlock of a path that the job wanted, but never came to ask for, leaves the lock of another job alone', async () => {
  const stage = await openStage();
  const theirs = [await stage.take('a'), await stage.take(hero)];
  const job = await stage.job();
  await expect(job.run(locking(['a', 'b', hero]))).resolves.toMatchObject({ outputs: { status: 'held' } });
  await expect(job.run(unlocking({ path: `a\nb\n${hero}` }))).resolves.toMatchObject({ outputs: { status: 'held' } });
  expect(new Set(await stage.locks())).toEqual(new Set(theirs));
});

test('an unlock by the output of the lock step is seen by the post-step, too', async () => {
  const stage = await openStage();
  const proxy = await stage.proxy();
  const first = await stage.job();
  const { outputs } = await first.run(locking([hero, 'a', 'b']));
  const some = JSON.stringify(JSON.parse(outputs['locks'] ?? '').slice(0, 2));
  await expect(first.run(unlocking({ locks: some }))).resolves.toMatchObject({
    outputs: { status: 'released', released: JSON.stringify([hero, 'a']) },
  });
  const theirs = await lockedByAnother(stage);
  const before = proxy.passed.length;
  const [, lockPost] = await first.post();
  expect(lockPost).toMatchObject({ conclusion: 'success', annotations: [] });
  expect(proxy.passed.slice(before)).toMatchObject([{ method: 'DELETE', path: 'b', status: 204 }]);
  expect(await stage.locks()).toEqual([theirs]);
});

test('with force, an unlock releases the lock of another job that has the same token', async () => {
  const stage = await openStage();
  await lockedByAnother(stage);
  const job = await stage.job();
  await job.run(locking(hero));
  await expect(job.run(unlocking({ path: hero, force: 'true' }))).resolves.toMatchObject({
    outputs: { status: 'released' },
  });
  expect(await stage.locks()).toEqual([]);
});
