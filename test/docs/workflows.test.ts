import { readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { inputTable, operations } from '../../src/action/inputs/table.ts';
import { findingsIn } from '../support/language-service.ts';
import { ourActionFile } from '../support/runner/action-file.ts';
import { parseWorkflow, readWorkflow, workflowFile } from '../workflows/workflow-file.ts';
import { codeIn, ourAction, ourVersion, recipes, section, tableRows, workflows } from './pages.ts';

const action = await readFile(ourActionFile, 'utf8');

const outputs = Object.keys(parse(action).outputs);

const stepsOf = (content: string) => Object.values(parseWorkflow(content).jobs).flatMap(({ steps = [] }) => steps);
const ourSteps = (content: string) => stepsOf(content).filter(({ uses }) => uses?.startsWith(ourAction));

describe.each(workflows)('the workflow of "$name"', ({ content }) => {
  test('is valid YAML, and passes the language service with the inputs of our action', async () => {
    const { errors, warnings } = parseDocument(content, { version: '1.2' });
    expect({ errors, warnings }).toEqual({ errors: [], warnings: [] });
    expect(await findingsIn('.github/workflows/recipe.yml', content, { [ourAction]: action })).toEqual([]);
  });

  test('sets only inputs that each operation uses, and reads only outputs that exist', () => {
    for (const { uses, with: inputs } of ourSteps(content)) {
      expect(uses).toBe(`${ourAction}@${ourVersion}`);
      const { operation, ...others } = inputs ?? {};
      expect(operations).toContain(operation);
      for (const name of Object.keys(others)) {
        const { usedBy } = Object.entries(inputTable).find(([each]) => each === name)?.[1] ?? {};
        expect(usedBy === 'all' ? [operation] : usedBy, name).toContain(operation);
      }
    }
    for (const [text, name] of content.matchAll(/\bsteps\.\w+\.outputs\.(\w+)/g)) expect(outputs, text).toContain(name);
  });
});

const reusable = section(recipes, 'Reusable workflows');
const prefix = `${ourAction}/.github/workflows/`;
const fileOf = (uses = ''): string => uses.replace(prefix, '').replace(`@${ourVersion}`, '');

test('the reusable workflows are all in the table, which names only inputs and outputs that they have', async () => {
  const callable: string[] = [];
  for (const file of (await readdir(dirname(workflowFile('ci.yml')))).filter((name) => name.endsWith('.yml'))) {
    if ((await readWorkflow(file)).on.workflow_call !== undefined) callable.push(`${prefix}${file}@${ourVersion}`);
  }
  const rows = tableRows(reusable, 'Workflow').map(
    ([, uses = '', what = '']) => [codeIn(uses)[0] ?? '', what] as const,
  );
  expect(rows.map(([uses]) => uses).toSorted()).toEqual(callable.toSorted());
  for (const [uses, what] of rows) {
    const { inputs = {}, outputs = {} } = (await readWorkflow(fileOf(uses))).on.workflow_call ?? {};
    expect([...Object.keys(inputs), ...Object.keys(outputs)]).toEqual(expect.arrayContaining([...codeIn(what)]));
  }
});
