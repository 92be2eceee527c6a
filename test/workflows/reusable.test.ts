import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { findingsIn } from '../support/language-service.ts';
import { ourActionFile } from '../support/runner/action-file.ts';
import { parseWorkflow } from '../support/workflow/workflow-file.ts';
import { isReusable, neededPermissions, runsAction, workflows } from './our-workflows.ts';

const action = await readFile(ourActionFile, 'utf8');
const ours = workflows.filter(({ name }) => isReusable(name));

describe.each(ours)('$name', ({ name, text }) => {
  const { on, jobs } = parseWorkflow(text);
  const call = on.workflow_call;

  test('can only be called, and each input is either required or has a default', () => {
    expect(Object.keys(on)).toEqual(['workflow_call']);
    for (const [each, input] of Object.entries(call?.inputs ?? {})) {
      expect(input.required, each).toBe(input.default === undefined);
    }
  });

  test('uses each input and secret that it declares', () => {
    const [, body = ''] = text.split(/^jobs:$/m);
    const used = (context: string) =>
      new Set([...body.matchAll(new RegExp(`\\b${context}\\.([\\w-]+)`, 'g'))].map(([, each]) => each));
    expect([...used('inputs')].toSorted()).toEqual(Object.keys(call?.inputs ?? {}).toSorted());
    expect([...used('secrets')].toSorted()).toEqual(Object.keys(call?.secrets ?? {}).toSorted());
  });

  test('returns each output of its job', () => {
    const [[id = '', job] = []] = Object.entries(jobs);
    const values = Object.values(call?.outputs ?? {}).map(({ value }) => value);
    expect(values.toSorted()).toEqual(
      Object.keys(job?.outputs ?? {})
        .map((output) => `\${{ jobs.${id}.outputs.${output} }}`)
        .toSorted(),
    );
  });

  test.runIf(runsAction(name))('passes only inputs of the action', async () => {
    const asIfPublished = (content: string) =>
      findingsIn(
        `.github/workflows/${name}`,
        content.replaceAll('uses: $/dist', 'uses: octo-org/workspace-automation@v1'),
        { 'octo-org/workspace-automation': action },
      );
    expect(await asIfPublished(text)).toEqual([]);
    const misspelt = await asIfPublished(text.replace(/^( {10})workspace:/m, '$1wrkspace:'));
    expect(misspelt.map(({ at }) => at)).toEqual(['wrkspace']);
  });

  // GitHub rejects a called job that requests more permissions than its caller has, and callers with a secret grant no
  // `id-token`.
  test('requests no permissions, and lists the required ones in its first lines', () => {
    expect(Object.values(jobs).map(({ permissions }) => permissions)).toEqual([undefined]);
    const [, comment = ''] = /^((?:#.*\n)+)/.exec(text) ?? [];
    for (const [scope, access] of Object.entries({
      ...neededPermissions(name),
      ...(runsAction(name) && { 'id-token': 'write' }),
    })) {
      expect(comment).toContain(`\`${scope}: ${access}\``);
    }
  });
});
