import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ourAction, ourVersion } from '../docs/pages.ts';
import { findingsIn } from '../support/language-service.ts';
import { neededPermissions, reusableWorkflows, templates, templatesFolder } from './our-workflows.ts';
import { calledWith, parseWorkflow, readWorkflow } from './workflow-file.ts';

/**
 * GitHub Docs, "Creating workflow templates for your organization"; the categories are from the README of
 * actions/starter-workflows. The octicons are those from github.com/primer/octicons that the templates use.
 */
const properties = z.strictObject({
  name: z.string().min(1).max(60),
  description: z.string().regex(/^[A-Z].+\.$/),
  iconName: z.enum(['octicon lock', 'octicon shield-lock', 'octicon sync']),
  categories: z
    .array(z.enum(['Automation', 'continuous-integration', 'deployment', 'code-review', 'testing', 'utilities']))
    .min(1),
  filePatterns: z.array(z.string()).optional(),
});

test('each reusable workflow has a template with the properties that GitHub shows', async () => {
  const expected = reusableWorkflows.flatMap((name) => [name, name.replace('.yml', '.properties.json')]);
  expect((await readdir(templatesFolder)).toSorted()).toEqual(expected.toSorted());
  for (const { name, text } of templates) {
    const file = join(templatesFolder, name.replace('.yml', '.properties.json'));
    expect(properties.parse(JSON.parse(await readFile(file, 'utf8'))).name).toBe(parseWorkflow(text).name);
  }
});

test.each(templates)('the template $name says which runner it needs', ({ text }) => {
  const [, runner = ''] = /^# Runner: (.*)$/m.exec(text) ?? [];
  expect(runner).toContain('of version 2.336.0 or newer');
});

describe.each(templates)('the template $name', ({ name, text }) => {
  const [job] = Object.values(parseWorkflow(text).jobs);

  test('is valid for the language service, and calls the workflow with its name at an existing version', async () => {
    expect(await findingsIn(`.github/workflows/${name}`, text)).toEqual([]);
    expect(job?.uses).toBe(`${ourAction}/.github/workflows/${name}@${ourVersion}`);
  });

  test('calls a workflow that runs actions at a commit, ours at its own', async () => {
    const { jobs } = await readWorkflow(name);
    const used = Object.values(jobs).flatMap(({ steps = [] }) => steps.flatMap(({ uses = [] }) => uses));
    for (const uses of used) expect(uses).toMatch(/^\$\/dist$|@[0-9a-f]{40}$/);
  });

  test('passes all required and only declared inputs and secrets, and grants the required permissions', async () => {
    const { inputs = {}, secrets = {} } = (await readWorkflow(name)).on.workflow_call ?? {};
    expect(() => calledWith(inputs, job?.with ?? {})).not.toThrow();
    const passed = typeof job?.secrets === 'object' ? job.secrets : {};
    expect(() => calledWith(secrets, passed)).not.toThrow();
    expect(job?.permissions).toEqual(neededPermissions(name));
  });
});
