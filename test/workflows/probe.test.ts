import { symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ourActionFile } from '../support/runner/action-file.ts';
import { runWorkflowJob } from '../support/workflow/job-runner.ts';
import type { UsesHandler } from '../support/workflow/used-action.ts';
import { readWorkflow, type WorkflowStep } from '../support/workflow/workflow-file.ts';
import { endService } from './end-service.ts';

const workflow = await readWorkflow('probe.yml');

/** The service that the tests built. */
const checkout: UsesHandler = async ({ job }) => {
  for (const name of ['.ci', 'build']) {
    await symlink(join(dirname(ourActionFile), name), join(job.folders.workspace, name));
  }
  return undefined;
};

async function runProbe(change: (step: WorkflowStep) => WorkflowStep = (step) => step) {
  const { probe } = workflow.jobs;
  if (probe === undefined) throw new Error('There is no job probe.');
  // Still longer than the `ttl`.
  const here = (step: WorkflowStep): WorkflowStep => (step.run === 'sleep 30' ? { ...step, run: 'sleep 12' } : step);
  const steps = probe.steps
    .filter(({ run }) => run !== 'npm ci')
    .map(here)
    .map(change);
  const ended = await runWorkflowJob({
    workflow: { ...workflow, jobs: { probe: { ...probe, steps } } },
    uses: { 'actions/checkout': checkout, 'actions/setup-node': async () => undefined },
  });
  onTestFinished(() => endService(ended.job));
  return ended;
}

test('the probe succeeds if the action keeps its locks and releases them when the job ends', async () => {
  const { result, log } = await runProbe();
  expect(result, log).toBe('success');
});
