import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { findingsIn } from '../support/language-service.ts';
import { ourActionFile } from '../support/runner/action-file.ts';
import { parseWorkflow } from '../support/workflow/workflow-file.ts';
import { reusableWorkflows, workflows } from './our-workflows.ts';

const action = await readFile(ourActionFile, 'utf8');
const ours = workflows.filter(({ name }) => reusableWorkflows.some((each) => each === name));

describe.each(ours)('$name', ({ name, text }) => {
  const { on, jobs } = parseWorkflow(text);
  const call = on.workflow_call;

  test('uses each input and secret that it declares', () => {
    const [, body = ''] = text.split(/^jobs:$/m);
    const used = (context: string) =>
      new Set([...body.matchAll(new RegExp(`\\b${context}\\.([\\w-]+)`, 'g'))].map(([, each]) => each));
    expect([...used('inputs')].toSorted()).toEqual(Object.keys(call?.inputs ?? {}).toSorted());
    expect([...used('secrets')].toSorted()).toEqual(Object.keys(call?.secrets ?? {}).toSorted());
  });

  test('passes only inputs that the action has', async () => {
    const asIfPublished = (content: string) =>
      findingsIn(
        `.github/workflows/${name}`,
        content.replaceAll('./../.workspace-automation', 'octo-org/workspace-automation@v1'),
        { 'octo-org/workspace-automation': action },
      );
    expect(await asIfPublished(text)).toEqual([]);
    const misspelt = await asIfPublished(text.replace(/^( {10})workspace:/m, '$1wrkspace:'));
    expect(misspelt.map(({ at }) => at)).toEqual(['wrkspace']);
  });

  test('asks for read permissions only', () => {
    const wanted = Object.values(jobs).map(({ permissions }) => permissions);
    const reads = { contents: 'read', ...(name === 'lock-guard.yml' && { 'pull-requests': 'read' }) };
    expect(wanted).toEqual([reads]);
  });
});
