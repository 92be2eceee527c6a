import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ourActionFile } from '../support/runner/action-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { GivenContexts } from '../support/workflow/job-contexts.ts';
import { startWorkflowJob, type WorkflowJobResult } from '../support/workflow/job-runner.ts';
import type { UsesHandler, UsesHandlers } from '../support/workflow/used-action.ts';
import { readWorkflow, type WorkflowJob, type WorkflowStep } from '../support/workflow/workflow-file.ts';
import { ownSource } from './called.ts';
import { endService } from './end-service.ts';

const root = dirname(ourActionFile);
const workflow = await readWorkflow('ci.yml');
const { gate, ...others } = workflow.jobs;

/** Scripts that started this test, or would repeat the installation. */
const leftOut = new Map([
  ['npm ci', 'It would install the dependencies once more.'],
  ['bash .ci/install', 'It would install the programs once more.'],
  ['npm cit', 'It runs the tests, this one among them.'],
  ['npm run check', '.ci/run does that.'],
  ['npm run check:bundle', '.ci/run does that.'],
  ['npm run test:postgres', '.ci/run does that.'],
  ['bash .ci/run', 'It runs the tests, this one among them.'],
]);
const isLeftOut = ({ run = '' }: WorkflowStep): boolean => leftOut.has(run.trim());

const runHere = ['end-to-end', 'after-the-post-step', 'renewal', 'gate'];

const jobNamed = (name: string): WorkflowJob => {
  const job = workflow.jobs[name];
  if (job === undefined) throw new Error(`There is no job ${name}.`);
  return job;
};

/** The files that a job needs from a checkout: the service that the tests built. */
const checkout: UsesHandler = async ({ job }) => {
  for (const name of ['.ci', 'bin']) await symlink(join(root, name), join(job.folders.workspace, name));
  return undefined;
};
const nothing: UsesHandler = async () => undefined;

async function run(name: string, uses: UsesHandlers, given: GivenContexts = {}): Promise<WorkflowJobResult> {
  const { steps, ...definition } = jobNamed(name);
  // Still longer than the `ttl`.
  const inTime = steps.map((step) => ({ ...step, ...(step.run === 'sleep 30' && { run: 'sleep 12' }) }));
  const running = await startWorkflowJob({
    ...given,
    workflow: { ...workflow, jobs: { [name]: { ...definition, steps: inTime.filter((step) => !isLeftOut(step)) } } },
    source: ownSource,
    uses: { 'actions/checkout': checkout, 'actions/setup-node': nothing, ...uses },
    run: { runId: '7', runAttempt: '2' },
  });
  onTestFinished(() => endService(running.job));
  return running.finished;
}

test('every script either runs here or is listed with a reason, and every listed script exists', () => {
  const scriptsOf = (names: readonly string[]) =>
    names.flatMap((name) => jobNamed(name).steps.flatMap(({ run: script }) => script?.trim() ?? []));
  const all = Object.keys(workflow.jobs);
  const elsewhere = scriptsOf(all.filter((name) => !runHere.includes(name)));
  expect(elsewhere.filter((script) => !leftOut.has(script))).toEqual([]);
  expect([...leftOut.keys()].filter((script) => !scriptsOf(all).includes(script))).toEqual([]);
});

const failedSteps = ({ steps }: WorkflowJobResult) =>
  steps.filter(({ conclusion }) => conclusion === 'failure').map(({ name, log }) => [name, log]);

describe('the end-to-end jobs', () => {
  test('use every operation, and a later job confirms that the post-step released the locks', async () => {
    const saved = join(temporaryFolder(), 'workspace-data');
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
    // Takes the place of the post-step of actions/cache; a test below checks that it runs last.
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

  test('find a renewed lock still held after more than its ttl', async () => {
    const { result, ...job } = await run('renewal', {}, { matrix: { os: 'ubuntu-latest' } });
    expect(failedSteps({ result, ...job })).toEqual([]);
    expect(result).toBe('success');
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
    expect(step('Print the log of the service').log).toMatch(/it is a file, not a folder/);
    expect(step('List the workspaces').conclusion).toBe('skipped');
  });

  test('save the data after all other post-steps, because the cache step comes before every use of the action', () => {
    const { steps } = jobNamed('end-to-end');
    const keeping = steps.findIndex(({ uses }) => uses?.startsWith('actions/cache@'));
    const ours = steps.flatMap(({ uses }, index) => (uses === '$/dist' ? [index] : []));
    expect(keeping).toBeGreaterThan(-1);
    expect(ours.filter((index) => index < keeping)).toEqual([]);
  });

  test('use every operation of the action', async () => {
    const operations = jobNamed('end-to-end').steps.map((step) => step.with['operation']);
    const action = await readFile(ourActionFile, 'utf8');
    const [, sentence = ''] = /What to do: (.*?)\.\n/s.exec(action) ?? [];
    const known = [...sentence.matchAll(/`([\w-]+)`/g)].map(([, name]) => name);
    expect(known).toHaveLength(8);
    expect(known.filter((name) => !operations.includes(name))).toEqual([]);
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
    'succeeds only if all jobs did: one ended as %s',
    async (result) => {
      const ended = await run('gate', {}, all(result));
      expect(ended.result).toBe(result === 'success' ? 'success' : 'failure');
      expect(ended.log).toContain(result);
    },
  );

  test('fails if it waited for no job', async () => {
    expect(await run('gate', {}, { needs: {} })).toMatchObject({ result: 'failure' });
  });
});
