import { expect, onTestFinished, test } from 'vitest';
import { type GitHubApi, notAccessible, startGitHubApi } from '../../support/other-servers/github-api.ts';
import type { Answer } from '../../support/other-servers/other-server.ts';
import { json } from '../../support/other-servers/responses.ts';
import { type Job, someToken } from '../../support/runner/job.ts';
import { entriesOf } from './ledger.ts';
import { hero, locking, openStage, type Stage, unlocking, useService } from './stage.ts';

useService();

const cancelling = { ttl: '15m', renew: 'true', 'on-lost': 'cancel' };
const periodMs = 5 * 60_000;
const patiently = { interval: 200 };

const accepted = json(202, {});

async function jobOnGitHub(stage: Stage, answer: Answer): Promise<{ readonly job: Job; readonly api: GitHubApi }> {
  const api = await startGitHubApi({
    base: '/api/v3',
    instead: ({ method }) => (method === 'POST' ? answer : undefined),
  });
  onTestFinished(() => api.close());
  return { api, job: await stage.job({ run: { apiUrl: api.apiUrl, runId: '1001' } }) };
}

const cancellationsOf = (job: Job) => entriesOf(job).filter(({ kind }) => kind === 'run-cancelled');

const requestsOf = (api: GitHubApi) =>
  api.requests.map(({ method, url, headers }) => `${method} ${url} ${headers.authorization}`);
const request = `POST /api/v3/repos/octo-games/dragon/actions/runs/1001/cancel Bearer ${someToken}`;

test('a lock that is released by force cancels the run once, within a period of renewal', async () => {
  const stage = await openStage();
  const clock = await stage.clock();
  const { job, api } = await jobOnGitHub(stage, accepted);
  const step = await job.run(locking([hero, 'b', 'c'], cancelling));
  expect(step, step.log).toMatchObject({ conclusion: 'success', annotations: [] });
  await stage.release(hero);
  await clock.pass(periodMs);
  await expect.poll(() => cancellationsOf(job), patiently).toHaveLength(1);
  await stage.release('b');
  await clock.pass(periodMs);
  await expect.poll(() => entriesOf(job).filter(({ kind }) => kind === 'lost').length, patiently).toBe(2);
  expect(requestsOf(api)).toEqual([request]);
  const next = await job.run(unlocking({ path: 'c', glob: 'false' }));
  const text = 'The run was cancelled because of a lost lock: `on-lost` is `cancel`.';
  expect(next.annotations.map(({ message }) => message)).toContain(text);
  const [, post] = await job.post();
  expect(post, post?.log).toMatchObject({ conclusion: 'failure' });
  expect(post?.annotations).toMatchObject([
    { level: 'error', message: expect.stringContaining('was lost at ') },
    { level: 'error', message: expect.stringContaining('was lost at ') },
    { level: 'error', message: text },
  ]);
  expect(job.leftProcesses()).toEqual([]);
});

test('the last lock of a step cancels the run before its renewal process ends', async () => {
  const stage = await openStage();
  const clock = await stage.clock();
  const { job, api } = await jobOnGitHub(stage, accepted);
  await job.run(locking(hero, cancelling));
  await stage.release(hero);
  await clock.pass(periodMs);
  await expect.poll(() => job.leftProcesses(), patiently).toEqual([]);
  expect(requestsOf(api)).toEqual([request]);
  expect(cancellationsOf(job)).toHaveLength(1);
});

test('the job fails at its end, and says why, if GitHub refuses to cancel the run', async () => {
  const stage = await openStage();
  const clock = await stage.clock();
  const { job, api } = await jobOnGitHub(stage, notAccessible);
  await job.run(locking(hero, cancelling));
  await stage.release(hero);
  await clock.pass(periodMs);
  await expect.poll(() => cancellationsOf(job), patiently).toHaveLength(1);
  const [post] = await job.post();
  expect(post, post?.log).toMatchObject({ conclusion: 'failure' });
  expect(post?.annotations.at(-1)).toMatchObject({
    level: 'error',
    message: expect.stringMatching(
      /^The run could not be cancelled, although `on-lost` is `cancel`: .*Resource not accessible by integration.* Give the job the permission `actions: write`\.$/,
    ),
  });
  expect(requestsOf(api)).toEqual([request]);
});

test('a step in a run without an id, which it could not cancel, fails before any request', async () => {
  const stage = await openStage();
  const proxy = await stage.proxy();
  const { annotations } = await (await stage.job({ run: { runId: '' } })).run(locking(hero, cancelling));
  expect(annotations).toMatchObject([
    { level: 'error', message: 'Input `on-lost` is "cancel". GITHUB_RUN_ID is not the id of a run.' },
  ]);
  expect(proxy.passed).toEqual([]);
});
