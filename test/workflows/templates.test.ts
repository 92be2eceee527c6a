import { describe, expect, test } from 'vitest';
import { ourVersion } from '../docs/pages.ts';
import { findingsIn } from '../support/language-service.ts';
import { filled } from '../support/workflow/expressions.ts';
import { inputsOf, secretsOf } from '../support/workflow/given-values.ts';
import { parseWorkflow, readWorkflow } from '../support/workflow/workflow-file.ts';
import { templates } from './our-workflows.ts';

describe.each(templates)('the template $name', ({ name, text }) => {
  const [job] = Object.values(parseWorkflow(text).jobs);

  test('is valid for the language service, and calls the workflow of its name at a version that exists', async () => {
    expect(await findingsIn(`.github/workflows/${name}`, text)).toEqual([]);
    expect(job?.uses).toBe(`octo-org/workspace-automation/.github/workflows/${name}@${ourVersion}`);
  });

  test('passes only declared inputs and secrets, and all required ones, and grants the permissions that are needed', async () => {
    const called = await readWorkflow(name);
    const scope = { contexts: { github: {}, vars: {} } };
    expect(() => inputsOf(called, job?.with ?? {}, scope)).not.toThrow();
    const secrets = typeof job?.secrets === 'object' ? filled(job.secrets, { contexts: { secrets: {} } }) : {};
    expect(() => secretsOf(called, secrets, 'ghs_0')).not.toThrow();
    // With fewer permissions than the called job asks for, GitHub does not start it.
    expect(job?.permissions).toEqual(Object.values(called.jobs)[0]?.permissions);
  });
});
