import { describe, expect, test } from 'vitest';
import { runWorkflowJob, type WorkflowJobOptions } from '../support/workflow/job-runner.ts';
import { calledWorkflow, ownCommit } from './called.ts';
import { actionWorkflows } from './our-workflows.ts';

/** Runs a workflow with an invalid base URL: an error about it shows that the workflow found the action. */
const run = (workflow: string, options: Partial<WorkflowJobOptions> = {}) => {
  const needed = workflow === 'locked-release.yml' ? { paths: 'a.uasset', run: 'true' } : {};
  return runWorkflowJob({
    workflow,
    inputs: { workspace: 'game', 'base-url': 'not an address', ...needed },
    secrets: { token: 'wsa_x' },
    ...calledWorkflow(),
    ...options,
  });
};

describe.each(actionWorkflows)('%s', (workflow) => {
  test('runs the action of its own repository and commit, not those of its caller', async () => {
    const { uses } = calledWorkflow();
    const ofCaller = async () => Promise.reject(new Error('This is the action of the caller.'));
    const { downloads, log } = await run(workflow, {
      run: { repository: 'octo-games/workspace-automation' },
      uses: { ...uses, 'octo-games/workspace-automation/action': ofCaller },
    });
    expect(log).toMatch(/##\[error\].*base-url/);
    expect(downloads.filter((each) => !each.startsWith('actions/checkout@'))).toEqual([
      `octo-org/workspace-automation@${ownCommit}`,
    ]);
  });
});
