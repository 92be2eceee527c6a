import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ourAction, ourVersion } from '../docs/pages.ts';
import { findingsIn } from '../support/language-service.ts';
import { filled } from '../support/workflow/expressions.ts';
import { inputsOf, secretsOf } from '../support/workflow/given-values.ts';
import { parseWorkflow, readWorkflow } from '../support/workflow/workflow-file.ts';
import { neededPermissions, reusableWorkflows, templates, templatesFolder } from './our-workflows.ts';

/**
 * GitHub Docs, "Creating workflow templates for your organization"; the categories are from the README of
 * actions/starter-workflows. The octicons are those from github.com/primer/octicons that the templates use.
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

test('each reusable workflow has a template with the properties that GitHub shows', async () => {
  const expected = reusableWorkflows.flatMap((name) => [name, name.replace('.yml', '.properties.json')]);
  expect((await readdir(templatesFolder)).toSorted()).toEqual(expected.toSorted());
  for (const { name, text } of templates) {
    const file = join(templatesFolder, name.replace('.yml', '.properties.json'));
    expect(properties.parse(JSON.parse(await readFile(file, 'utf8'))).name).toBe(parseWorkflow(text).name);
  }
});

describe.each(templates)('the template $name', ({ name, text }) => {
  const [job] = Object.values(parseWorkflow(text).jobs);

  test('is valid for the language service, and calls the workflow with its name at an existing version', async () => {
    expect(await findingsIn(`.github/workflows/${name}`, text)).toEqual([]);
    expect(job?.uses).toBe(`${ourAction}/.github/workflows/${name}@${ourVersion}`);
  });

  test('passes all required and only declared inputs and secrets, and grants the required permissions', async () => {
    const called = await readWorkflow(name);
    const scope = { contexts: { github: {}, vars: {} } };
    expect(() => inputsOf(called, job?.with ?? {}, scope)).not.toThrow();
    const secrets = typeof job?.secrets === 'object' ? filled(job.secrets, { contexts: { secrets: {} } }) : {};
    expect(() => secretsOf(called, secrets, 'ghs_0')).not.toThrow();
    expect(job?.permissions).toEqual(neededPermissions(name));
  });
});
