import { expect, test } from 'vitest';
import type { Run } from '../../support/runner/github-context.ts';
import { locking, openStage, useService } from './stage.ts';

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
