import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ourVersion } from '../docs/pages.ts';
import { findingsIn } from '../support/language-service.ts';
import { parseWorkflow, readWorkflow } from '../support/workflow/workflow-file.ts';
import { reusableWorkflows, templates, templatesFolder } from './our-workflows.ts';

/**
 * Docs of GitHub, "Creating workflow templates for your organization", and of the categories the README of
 * actions/starter-workflows. The octicons are those of github.com/primer/octicons that we use.
 */
const properties = z.strictObject({
  name: z.string().min(1).max(60),
  description: z.string().regex(/^[A-Z].+\.$/),
  iconName: z.enum(['octicon lock', 'octicon shield-lock', 'octicon sync']),
  categories: z
    .array(
      z.enum([
        'continuous-integration',
        'deployment',
        'testing',
        'code-quality',
        'code-review',
        'dependency-management',
        'monitoring',
        'Automation',
        'utilities',
        'Pages',
        'Hugo',
      ]),
    )
    .min(1),
  filePatterns: z.array(z.string()).optional(),
});

test('each reusable workflow has a template with properties', async () => {
  const expected = reusableWorkflows.flatMap((name) => [name, name.replace('.yml', '.properties.json')]);
  expect((await readdir(templatesFolder)).toSorted()).toEqual(expected.toSorted());
});

describe.each(templates)('the template $name', ({ name, text }) => {
  const { jobs, name: title } = parseWorkflow(text);
  const [job] = Object.values(jobs);

  test('has the properties that GitHub shows, with the name of the workflow', async () => {
    const file = join(templatesFolder, name.replace('.yml', '.properties.json'));
    expect(properties.parse(JSON.parse(await readFile(file, 'utf8'))).name).toBe(title);
  });

  test('names its placeholders as GitHub and the README do', async () => {
    const raw = await readFile(join(templatesFolder, name), 'utf8');
    const placeholders = [...raw.matchAll(/(?<!\$)\$(?!\{\{)[\w-]+|<[^>\s]*>/g)].map(([found]) => found);
    for (const each of placeholders) expect(['$default-branch', '<owner>']).toContain(each);
    expect(placeholders).toContain('<owner>');
  });

  test('is valid for the language service', async () => {
    expect(await findingsIn(`.github/workflows/${name}`, text)).toEqual([]);
  });

  test('calls the workflow of its name, at a version that exists', () => {
    expect(Object.keys(jobs)).toHaveLength(1);
    expect(job?.uses).toBe(`octo-org/workspace-automation/.github/workflows/${name}@${ourVersion}`);
  });

  test('passes only declared inputs of the right type, and all required ones', async () => {
    const call = (await readWorkflow(name)).on.workflow_call;
    const types = { boolean: 'boolean', number: 'number', string: 'string', choice: 'string', environment: 'string' };
    for (const [each, value] of Object.entries(job?.with ?? {})) {
      expect(typeof value, each).toBe(types[call?.inputs[each]?.type ?? 'choice']);
      expect(call?.inputs, each).toHaveProperty(each);
    }
    for (const [each, { required }] of Object.entries(call?.inputs ?? {})) {
      if (required) expect(job?.with, each).toHaveProperty(each);
    }
    const secrets = typeof job?.secrets === 'object' ? job.secrets : {};
    for (const each of Object.keys(secrets)) expect(call?.secrets, each).toHaveProperty(each);
    for (const [each, { required }] of Object.entries(call?.secrets ?? {})) {
      if (required) expect(secrets, each).toHaveProperty(each);
    }
  });

  test('grants the permissions that the called job needs: with fewer, GitHub does not start it', async () => {
    const [called] = Object.values((await readWorkflow(name)).jobs);
    expect(job?.permissions).toEqual(called?.permissions);
  });
});
