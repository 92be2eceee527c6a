import { beforeAll, expect, test } from 'vitest';
import { openScene } from '../e2e/scene.ts';
import { createRepository, type Repository } from '../support/git-repository.ts';
import { pullRequestEvent } from '../support/runner/github-context.ts';
import { calledWorkflow } from './called.ts';
import { runWorkflowJob, type WorkflowJobOptions } from './job-runner.ts';

const scene = openScene({ publicUrl: (port) => `http://127.0.0.1:${port}` });
let remote: Repository;

beforeAll(() => {
  remote = createRepository(scene.service.dataFolder);
  for (const branch of ['main', 'topic']) remote.commit({ branch, files: { [branch]: branch } });
});

async function sync(options: Pick<WorkflowJobOptions, 'event' | 'inputs'> = {}, at = remote.path) {
  const workspace = await scene.service.workspace(at);
  const { secret: token } = await scene.service.token({ scopes: ['sync'] });
  return runWorkflowJob({
    ...options,
    workflow: 'sync-branch.yml',
    inputs: { 'base-url': `${scene.service.baseUrl}/v1`, workspace, ...options.inputs },
    secrets: { token },
    ...calledWorkflow(),
  });
}

test('syncs the branch of the run, and returns the result as outputs', async () => {
  const { result, workflowOutputs, log } = await sync();
  expect(log).not.toContain('##[error]');
  expect(result).toBe('success');
  expect(workflowOutputs).toMatchObject({ status: 'succeeded', branch: 'main', sync_id: expect.stringMatching(/./) });
  expect(Number(workflowOutputs['estimated_objects'])).toBeGreaterThan(0);
  expect(workflowOutputs['clone_url']).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/workspaces\/[^/]+\/git$/);
});

test('syncs the branch in the input, or the head branch of a pull request', async () => {
  expect(await sync({ inputs: { branch: 'topic' } })).toMatchObject({ workflowOutputs: { branch: 'topic' } });
  const event = pullRequestEvent({ number: 7, head: 'topic' });
  expect(await sync({ event })).toMatchObject({ result: 'success', workflowOutputs: { branch: 'topic' } });
});

test('a failed sync fails the job, and the outputs still identify it', async () => {
  const { result, workflowOutputs } = await sync({}, `${remote.path}.nowhere`);
  expect(result).toBe('failure');
  expect(workflowOutputs).toMatchObject({ status: 'failed', branch: 'main', sync_id: expect.stringMatching(/./) });
});
