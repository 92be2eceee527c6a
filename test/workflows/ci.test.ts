import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/git-folders.ts';
import { ourActionFile } from '../support/runner/action-file.ts';
import { putActionInto } from '../support/workflow/checkouts.ts';
import type { GivenContexts } from '../support/workflow/job-contexts.ts';
import { type RunningWorkflowJob, startWorkflowJob, type WorkflowJobResult } from '../support/workflow/job-runner.ts';
import type { UsesHandler, UsesHandlers } from '../support/workflow/used-action.ts';
import { readWorkflow, type WorkflowJob, type WorkflowStep } from '../support/workflow/workflow-file.ts';

const root = dirname(ourActionFile);
const workflow = await readWorkflow('ci.yml');
const { gate, ...others } = workflow.jobs;

/** These started this test, or would install what is installed. */
const isLeftOut = ({ run = '' }: WorkflowStep): boolean =>
  /^(npm (ci|cit|run [\w:]+)|bash \.ci\/run)$/.test(run.trim());

const jobNamed = (name: string): WorkflowJob => {
  const job = workflow.jobs[name];
  if (job === undefined) throw new Error(`There is no job ${name}.`);
  return job;
};

/** What a job needs of a checkout: the bundle, and the service that the tests built. */
const checkout: UsesHandler = async ({ job }) => {
  await putActionInto(job.folders.workspace);
  for (const name of ['.ci', 'bin']) await symlink(join(root, name), join(job.folders.workspace, name));
  return undefined;
};
const nothing: UsesHandler = async () => undefined;

async function endService({ job }: RunningWorkflowJob): Promise<void> {
  const pid = Number(await readFile(join(job.folders.temp, 'workspace-service.pid'), 'utf8').catch(() => '0'));
  if (pid === 0) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

async function run(name: string, uses: UsesHandlers, given: GivenContexts = {}): Promise<WorkflowJobResult> {
  const { steps, ...definition } = jobNamed(name);
  const running = await startWorkflowJob({
    ...given,
    workflow: { ...workflow, jobs: { [name]: { ...definition, steps: steps.filter((step) => !isLeftOut(step)) } } },
    uses: { 'actions/checkout': checkout, 'actions/setup-node': nothing, ...uses },
    run: { runId: '7', runAttempt: '2' },
  });
  onTestFinished(() => endService(running));
  return running.finished;
}

const failedSteps = ({ steps }: WorkflowJobResult) =>
  steps.filter(({ conclusion }) => conclusion === 'failure').map(({ name, log }) => [name, log]);

describe('the end-to-end jobs', () => {
  test('use every operation, and the next job finds that the post-step released the locks', async () => {
    const saved = join(await temporaryFolder(), 'workspace-data');
    let key: string | undefined;
    const first = await run('end-to-end', {
      'actions/cache': async ({ with: { path, key: its } }) => {
        expect(path).toBe('workspace-data');
        key = its;
        return undefined;
      },
    });
    expect(failedSteps(first)).toEqual([]);
    expect(first.result).toBe('success');
    expect(first.posts.length).toBeGreaterThan(0);
    // What the post-step of actions/cache does; a test below checks that it runs last.
    await cp(join(first.job.folders.workspace, 'workspace-data'), saved, { recursive: true });

    const second = await run(
      'after-the-post-step',
      {
        'actions/cache/restore': async ({ job, with: given }) => {
          expect(given).toEqual({ path: 'workspace-data', key, 'fail-on-cache-miss': 'true' });
          await cp(saved, join(job.folders.workspace, 'workspace-data'), { recursive: true });
          return undefined;
        },
      },
      { needs: { 'end-to-end': { result: first.result, outputs: first.outputs } } },
    );
    expect(failedSteps(second)).toEqual([]);
    expect(second.result).toBe('success');
    expect(key).toBe('end-to-end-7-2');
  });

  test('fail and show the log of the service if it does not start', async () => {
    const spoilt: UsesHandler = async (step) => {
      await checkout(step);
      await writeFile(join(step.job.folders.workspace, 'workspace-data'), 'a file');
      return undefined;
    };
    const { result, step } = await run('end-to-end', { 'actions/checkout': spoilt, 'actions/cache': nothing });
    expect(result).toBe('failure');
    expect(step('Start the service').conclusion).toBe('failure');
    expect(step('What the service logged').log).toMatch(/it is a file, not a folder/);
    expect(step('List the workspaces').conclusion).toBe('skipped');
  });

  test('save the data after all other post-steps: the step that saves them comes before every use of the action', () => {
    const { steps } = jobNamed('end-to-end');
    const keeping = steps.findIndex(({ uses }) => uses?.startsWith('actions/cache@'));
    const ours = steps.flatMap(({ uses }, index) => (uses === './' ? [index] : []));
    expect(keeping).toBeGreaterThan(-1);
    expect(ours.filter((index) => index < keeping)).toEqual([]);
  });
});

describe('the gate', () => {
  const all = (result: 'success' | 'failure' | 'cancelled' | 'skipped', name = 'test'): GivenContexts => ({
    needs: {
      ...Object.fromEntries(Object.keys(others).map((job) => [job, { result: 'success' }])),
      [name]: { result },
    },
  });

  test('waits for every other job', () => {
    expect([gate?.needs ?? []].flat().toSorted()).toEqual(Object.keys(others).toSorted());
  });

  test.each(['success', 'failure', 'cancelled', 'skipped'] as const)(
    'goes by a job that ended as %s',
    async (result) => {
      const ended = await run('gate', {}, all(result));
      expect(ended.result).toBe(result === 'success' ? 'success' : 'failure');
      expect(ended.log).toContain(result);
    },
  );

  test('always runs, and fails if it waited for no job', async () => {
    expect(await run('gate', {}, { needs: {} })).toMatchObject({ result: 'failure' });
  });
});
