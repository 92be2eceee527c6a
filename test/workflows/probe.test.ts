import { readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ourActionFile } from '../support/runner/action-file.ts';
import { endProcesses } from '../support/runner/left-processes.ts';
import { startWorkflowJob } from '../support/workflow/job-runner.ts';
import type { UsesHandler } from '../support/workflow/used-action.ts';
import { readWorkflow, type WorkflowStep } from '../support/workflow/workflow-file.ts';

const workflow = await readWorkflow('probe.yml');

/** The service that the tests built. */
const checkout: UsesHandler = async ({ job }) => {
  for (const name of ['.ci', 'build']) {
    await symlink(join(dirname(ourActionFile), name), join(job.folders.workspace, name));
  }
  return undefined;
};

test('the probe succeeds if the action keeps its locks and releases them when the job ends', async () => {
  const { probe } = workflow.jobs;
  if (probe === undefined) throw new Error('There is no job probe.');
  // Still longer than the `ttl`.
  const here = (step: WorkflowStep): WorkflowStep => (step.run === 'sleep 30' ? { ...step, run: 'sleep 12' } : step);
  const steps = probe.steps.filter(({ run }) => run !== 'npm ci').map(here);
  const { job, finished } = await startWorkflowJob({
    workflow: { ...workflow, jobs: { probe: { ...probe, steps } } },
    uses: { 'actions/checkout': checkout, 'actions/setup-node': async () => undefined },
  });
  onTestFinished(async () => {
    const pid = await readFile(join(job.folders.temp, 'workspace-service.pid'), 'utf8').catch(() => undefined);
    if (pid !== undefined) endProcesses([Number(pid)]);
  });
  const { result, log } = await finished;
  expect(result, log).toBe('success');
});
