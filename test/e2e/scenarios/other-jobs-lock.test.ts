import { describe, expect, test } from 'vitest';
import { releasedBy } from '../../support/fault-proxy.ts';
import type { Run } from '../../support/runner/github-context.ts';
import { manners } from './faults.ts';
import { hero, locking, openStage, openWithJob, openWithProxy, type Stage, unlocking, useService } from './stage.ts';

useService();

async function lockedByAnother(stage: Stage) {
  const other = await stage.job();
  await expect(other.run(locking(hero))).resolves.toMatchObject({ conclusion: 'success' });
  return stage.lockOn(hero);
}

describe.each(manners)('with a service that %s', (_, manner) => {
  test('a lock of another job survives a second unlock and the end of the job that held the path before', async () => {
    const stage = await openStage();
    await stage.proxy(manner);
    const first = await stage.job();
    await expect(first.run(locking(hero))).resolves.toMatchObject({ conclusion: 'success' });
    await expect(first.run(unlocking({ path: hero }))).resolves.toMatchObject({ outputs: { status: 'released' } });
    const theirs = await lockedByAnother(stage);
    await expect(first.run(unlocking({ path: hero }))).resolves.toMatchObject({
      conclusion: 'success',
      outputs: { status: 'held', released: '[]' },
      annotations: [
        {
          level: 'warning',
          message: expect.stringMatching(
            /^Content\/Hero\.uasset is held by build-bot.*\. This lock was left alone: the ledger of this job does not name it\. To release a lock anyway, pass the output `locks`/,
          ),
        },
      ],
    });
    const posts = await first.post();
    expect(posts.map(({ log }) => log)).toEqual(['', '', 'Nothing was left to release at the end of the job.']);
    for (const post of posts) expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(await stage.lockOn(hero)).toEqual(theirs);
  });
});

test('an unlock without force leaves the locks of others alone on paths that the job planned but never requested', async () => {
  const { stage, job } = await openWithJob();
  const theirs = [await stage.take('a'), await stage.take(hero)];
  await expect(job.run(locking(['a', 'b', hero]))).resolves.toMatchObject({ outputs: { status: 'held' } });
  const path = `a\nb\n${hero}`;
  await expect(job.run(unlocking({ path }))).resolves.toMatchObject({ outputs: { status: 'held' } });
  expect(new Set(await stage.locks())).toEqual(new Set(theirs));
  await expect(job.run(unlocking({ path, force: 'true' }))).resolves.toMatchObject({ outputs: { status: 'released' } });
  expect(await stage.locks()).toEqual([]);
});

const reportsLoss = {
  conclusion: 'failure',
  annotations: [
    { message: expect.stringMatching(new RegExp(`This job lost its lock on ${hero}\\. .*A later step .* again`)) },
  ],
};

test('a lock that is handed on survives the post-step of an earlier step that had the path, whatever the service returns', async () => {
  const { stage, job } = await openWithProxy({ givesNoProof: true, looksAlike: true });
  await job.run(locking(hero));
  await stage.release(hero);
  await expect(job.run(locking(hero, { 'auto-release': 'false' }))).resolves.toMatchObject({ conclusion: 'success' });
  const handedOn = await stage.locks();
  await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success' }, reportsLoss]);
  expect(await stage.locks()).toEqual(handedOn);
});

test('the post-step skips locks that were unlocked by the output of the lock step', async () => {
  const { stage, proxy, job: first } = await openWithProxy();
  const { outputs } = await first.run(locking([hero, 'a', 'b']));
  const some = JSON.stringify(JSON.parse(outputs['locks'] ?? '').slice(0, 2));
  await expect(first.run(unlocking({ locks: some }))).resolves.toMatchObject({
    outputs: { status: 'released', released: JSON.stringify([hero, 'a']) },
  });
  const theirs = await lockedByAnother(stage);
  const before = proxy.passed.length;
  const [, lockPost] = await first.post();
  expect(lockPost).toMatchObject({ conclusion: 'success', annotations: [] });
  expect(proxy.passed.slice(before)).toMatchObject([{ method: 'DELETE', status: 200 }]);
  expect(proxy.passed.slice(before).flatMap(releasedBy)).toEqual(['b']);
  expect(await stage.locks()).toEqual([theirs]);
});

test.each<[string, Partial<Run>, Partial<Run>]>([
  ['siblings of a matrix', { runId: '3' }, { runId: '3' }],
  ['a run and its next attempt', { runId: '4', runAttempt: '1' }, { runId: '4', runAttempt: '2' }],
])('exactly one of %s gets the lock', async (_, one, other) => {
  const stage = await openStage();
  const jobs = [await stage.job({ run: one }), await stage.job({ run: other })];
  const results = await Promise.all(jobs.map((job) => job.run(locking(hero))));
  expect(results.map(({ conclusion }) => conclusion).toSorted()).toEqual(['failure', 'success']);
  expect(results.map(({ outputs }) => outputs['status']).toSorted()).toEqual(['acquired', 'held']);

  const theirs = await stage.lockOn(hero);
  const loser = jobs[results.findIndex(({ conclusion }) => conclusion === 'failure')];
  const winner = jobs[results.findIndex(({ conclusion }) => conclusion === 'success')];
  await expect(loser?.post()).resolves.toMatchObject([
    { conclusion: 'success', log: 'Nothing was left to release at the end of the job.' },
  ]);
  expect(await stage.lockOn(hero)).toEqual(theirs);
  await winner?.post();
  expect(await stage.locks()).toEqual([]);
});
