import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ourActionFile } from '../support/runner/action-file.ts';
import { runWorkflowJob } from '../support/workflow/job-runner.ts';
import { parseWorkflow, readWorkflow, workflowFile } from '../support/workflow/workflow-file.ts';
import { calledWorkflow, ownCommit } from './called.ts';
import { actionWorkflows } from './our-workflows.ts';

/** Runs a workflow with an invalid base URL: an error about it shows that the workflow found the action. */
const run = (workflow: string, own: Readonly<Record<string, string>>, given: Readonly<Record<string, string>> = {}) => {
  const called = calledWorkflow({ own });
  const needed = workflow === 'locked-release.yml' ? { paths: 'a.uasset', run: 'true' } : {};
  const job = runWorkflowJob({
    workflow,
    inputs: { workspace: 'game', 'base-url': 'not an address', ...needed, ...given },
    secrets: { token: 'wsa_x' },
    ...called,
  });
  return job.then((result) => ({ ...result, checkouts: called.checkouts }));
};

const own = { workflow_repository: 'octo-org/workspace-automation', workflow_sha: ownCommit };
const ran = /##\[error\].*base-url/;

test('the steps that fetch the action are the same in each workflow', async () => {
  const [first, ...others] = await Promise.all(
    actionWorkflows.map(async (name) => {
      const { jobs } = await readWorkflow(name);
      return Object.values(jobs).map(({ steps }) => steps.slice(0, 3));
    }),
  );
  expect(first?.[0]?.map(({ name }) => name)).toEqual([
    'Fail if the version of the action is unknown',
    'Fetch the action',
    'Move the action out of the workspace',
  ]);
  for (const other of others) expect(other).toEqual(first);
});

describe.each(actionWorkflows)('%s', (workflow) => {
  test('runs the action at its own commit, and fetches only action.yml and dist/ of it', async () => {
    const { checkouts, log, job } = await run(workflow, own);
    expect(checkouts).toEqual([`octo-org/workspace-automation@${ownCommit}`]);
    expect(log).toMatch(ran);
    const action = join(job.folders.workspace, '../.workspace-automation');
    expect((await readdir(action)).toSorted()).toEqual(['.git', 'action.yml', 'dist']);
    const dist = (folder: string) => readdir(join(folder, 'dist'), { recursive: true });
    expect((await dist(action)).toSorted()).toEqual((await dist(dirname(ourActionFile))).toSorted());
  });

  test('says what it needs if its own commit is unknown', async () => {
    const { result, checkouts, annotations } = await run(workflow, {});
    expect({ result, checkouts }).toEqual({ result: 'failure', checkouts: [] });
    expect(annotations).toMatchObject([
      {
        title: 'Unknown version of the action',
        message: expect.stringMatching(/GitHub Enterprise Server.*action-ref/),
      },
    ]);
  });
});

const given = { 'action-repository': 'corp/workspace-automation', 'action-ref': 'v1' };

test.each([
  ['if the server does not name its own version', {}],
  ['in place of the one that the server names', own],
])('uses a version that the caller sets %s', async (_, told) => {
  const { checkouts, log } = await run('sync-branch.yml', told, given);
  expect(checkouts).toEqual(['corp/workspace-automation@v1']);
  expect(log).toMatch(ran);
});

test.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>]>([
  ['only the repository', own, { 'action-repository': given['action-repository'] }],
  ['only the commit', own, { 'action-ref': given['action-ref'] }],
  ['only half of the context of the server', { workflow_repository: 'octo-org/workspace-automation' }, {}],
])('fetches nothing if %s is known', async (_, told, inputs) => {
  expect(await run('sync-branch.yml', told, inputs)).toMatchObject({ result: 'failure', checkouts: [] });
});

test('replaces a copy of the action from an earlier run', async () => {
  const text = await readFile(workflowFile('sync-branch.yml'), 'utf8');
  const before = '- run: mkdir ../.workspace-automation && touch ../.workspace-automation/old';
  const after = '- { id: after, if: always(), run: ls ../.workspace-automation }';
  const { step } = await runWorkflowJob({
    workflow: parseWorkflow(`${text.replace('steps:\n', `steps:\n      ${before}\n`)}      ${after}\n`),
    inputs: { workspace: 'game' },
    secrets: { token: 'wsa_x' },
    ...calledWorkflow({ own }),
  });
  expect(step('after').log.split('\n')).toEqual(['action.yml', 'dist']);
});
