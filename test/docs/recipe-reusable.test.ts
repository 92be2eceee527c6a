import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inputsOf, secretsOf } from '../support/workflow/given-values.ts';
import { parseWorkflow, readWorkflow, workflowFile } from '../support/workflow/workflow-file.ts';
import { codeIn, ourAction, ourVersion, recipes, section, tableRows, workflow } from './pages.ts';

const reusable = section(recipes, 'Reusable workflows');
const prefix = `${ourAction}/.github/workflows/`;

const rows = tableRows(reusable, 'Workflow').map(([, uses = '', what = '']) => ({
  uses: codeIn(uses)[0] ?? '',
  file: codeIn(uses)[0]?.replace(prefix, '').replace(`@${ourVersion}`, '') ?? '',
  named: codeIn(what),
}));

test('every reusable workflow is in the table', async () => {
  const files = await readdir(dirname(workflowFile('ci.yml')));
  const callable = [];
  for (const file of files) if ((await readWorkflow(file)).on.workflow_call !== undefined) callable.push(file);
  expect(rows.map(({ uses }) => uses).toSorted()).toEqual(
    callable.map((file) => `${prefix}${file}@${ourVersion}`).toSorted(),
  );
});

test.each(rows)('the table names only inputs and outputs of $file', async ({ file, named }) => {
  const { inputs = {}, outputs = {} } = (await readWorkflow(file)).on.workflow_call ?? {};
  for (const name of named) expect([...Object.keys(inputs), ...Object.keys(outputs)]).toContain(name);
});

/** For permissions of the form `name: access`. */
const permissionsIn = (of: { readonly permissions?: unknown }): readonly string[] =>
  Object.entries(of.permissions ?? {}).map(([what, access]) => `${what}: ${access}`);

const neededBy = async (file: string): Promise<readonly string[]> =>
  Object.values((await readWorkflow(file)).jobs).flatMap(permissionsIn);

describe('the calling workflow', () => {
  const caller = parseWorkflow(workflow('Reusable workflows'));
  const calls = Object.values(caller.jobs).map((job) => ({
    job,
    file: job.uses?.replace(prefix, '').replace(`@${ourVersion}`, '') ?? '',
  }));

  test('passes only inputs and secrets that exist, and all required ones', async () => {
    expect(calls).toHaveLength(1);
    for (const { job, file } of calls) {
      const called = await readWorkflow(file);
      expect(() => inputsOf(called, job.with, { contexts: { github: {}, vars: {} } })).not.toThrow();
      const secrets = Object.fromEntries(Object.keys(job.secrets).map((name) => [name, 'a secret']));
      expect(() => secretsOf(called, secrets, 'ghs_x')).not.toThrow();
    }
  });

  test('grants the permissions that the called workflow needs', async () => {
    for (const { file } of calls)
      expect(permissionsIn(caller)).toEqual(expect.arrayContaining([...(await neededBy(file))]));
  });

  test('needs one more permission for the guard, as the text says', async () => {
    const more = (await neededBy('lock-guard.yml')).filter((each) => !permissionsIn(caller).includes(each));
    expect(more).toEqual(['pull-requests: read']);
    expect(reusable.text).toContain('`pull-requests: read`');
  });
});
