import { expect, test } from 'vitest';
import { openScene } from '../e2e/scene.ts';
import { startGitHubApi } from '../support/other-servers/github-api.ts';
import { type JobEvent, pullRequestEvent } from '../support/runner/github-context.ts';
import { calledWorkflow } from './called.ts';
import { runWorkflowJob } from './job-runner.ts';

const scene = openScene();

const pullRequest = pullRequestEvent({ number: 7, head: 'topic' });
const files = [
  { filename: 'Content/Hero.uasset', status: 'modified' },
  { filename: 'Content/New.uasset', status: 'renamed', previous_filename: 'Content/Old.uasset' },
] as const;

interface Guarded {
  readonly locked: readonly string[];
  readonly ignoreOwner?: string;
  readonly event?: JobEvent;
}

/** Checks a pull request that changes the files above, while grace holds the given paths. */
async function guard({ locked, ignoreOwner, event = pullRequest }: Guarded) {
  const workspace = await scene.service.workspace();
  for (const path of locked) await scene.lock(workspace, path);
  const api = await startGitHubApi({ pulls: { 7: files } });
  const { secret: token } = await scene.service.token({ scopes: ['locks:read'] });
  const called = calledWorkflow();
  const result = await runWorkflowJob({
    workflow: 'lock-guard.yml',
    event,
    run: { apiUrl: api.apiUrl },
    inputs: { workspace, ...(ignoreOwner !== undefined && { 'ignore-owner': ignoreOwner }) },
    vars: { WORKSPACE_BASE_URL: `${scene.service.baseUrl}/v1` },
    secrets: { token },
    ...called,
  });
  return { ...result, checkouts: called.checkouts };
}

test('a pull request that changes locked files fails, with annotations and advice on how to pass later', async () => {
  const { result, annotations, workflowOutputs, step } = await guard({
    locked: ['Content/Hero.uasset', 'Content/Old.uasset', 'Content/Other.uasset'],
  });
  expect(result).toBe('failure');
  expect(annotations.flatMap(({ file, message }) => (file === undefined ? [] : [[file, message]]))).toEqual([
    ['Content/Hero.uasset', expect.stringMatching(/held by grace until/)],
    ['Content/Old.uasset', expect.stringMatching(/held by grace until/)],
  ]);
  const advice = 'Once they are released, run this job again: "Re-run jobs", then "Re-run failed jobs".';
  expect(annotations[0]?.message).toContain(advice);
  expect(step('guard').summary).toContain('Re-run failed jobs');
  expect(workflowOutputs).toMatchObject({ status: 'locked', count: '2' });
  expect(JSON.parse(workflowOutputs['locks'] ?? '')).toMatchObject([{ owner: 'grace' }, { owner: 'grace' }]);
});

test('a pull request without locked files passes; locks of ignored owners do not count', async () => {
  const event = { ...pullRequest, name: 'pull_request_target', ref: 'refs/heads/main' };
  const locked = ['Content/Other.uasset', 'Content/Hero.uasset'];
  const { result, workflowOutputs, checkouts } = await guard({ locked, ignoreOwner: 'linus\ngrace', event });
  expect({ result, workflowOutputs }).toMatchObject({ result: 'success', workflowOutputs: { status: 'free' } });
  expect(checkouts, 'nothing of the pull request').toEqual([]);
});
