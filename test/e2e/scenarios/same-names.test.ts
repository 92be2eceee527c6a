import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Run } from '../../support/runner/github-context.ts';
import { locking, manyPaths, openStage, useService } from './stage.ts';

useService();

const hero = 'Content/Hero.uasset';

test.each<[string, Partial<Run>, Partial<Run>]>([
  ['two runs of the same workflow, actor and token', { runId: '1' }, { runId: '2' }],
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

test('one of two concurrent jobs gets all locks, whatever the order of their requests', async () => {
  const stage = await openStage();
  const proxy = await stage.proxy();
  const both = Promise.withResolvers<void>();
  const asking = new Set<string>();
  const [first, second] = [await stage.job({ run: { runId: '6' } }), await stage.job({ run: { runId: '7' } })];
  proxy.meet(({ path, headers }) => {
    const who = headers.referer ?? '';
    asking.add(who);
    if (asking.size === 2) both.resolve();
    // For the first path, the request of the second job arrives first; for all others, that of the first job.
    const late = who.includes('/6/') === (path === 'Content/0001.uasset');
    return { kind: 'held-back', until: late ? both.promise.then(() => sleep(100)) : both.promise };
  });
  const paths = manyPaths(20);
  const results = await Promise.all([first.run(locking(paths)), second.run(locking(paths))]);
  expect(results.map(({ outputs }) => outputs['count'])).toEqual(['0', '20']);
  await first.post();
  await second.post();
});
