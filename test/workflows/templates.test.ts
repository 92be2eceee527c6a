import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ourAction, ourVersion } from '../docs/pages.ts';
import { openScene } from '../e2e/scene.ts';
import { findingsIn } from '../support/language-service.ts';
import { ourActionFile } from '../support/runner/action-file.ts';
import { storePoolFile } from '../support/stored-pool.ts';
import { runWorkflowJob } from './job-runner.ts';
import {
  actionTemplates,
  isReusable,
  neededPermissions,
  reusableWorkflows,
  templates,
  templatesFolder,
} from './our-workflows.ts';
import { calledWith, parseWorkflow, readWorkflow } from './workflow-file.ts';

/**
 * GitHub Docs, "Creating workflow templates for your organization"; the categories are from the README of
 * actions/starter-workflows. The octicons are those from github.com/primer/octicons that the templates use.
 */
const properties = z.strictObject({
  name: z.string().min(1).max(60),
  description: z.string().regex(/^[A-Z].+\.$/),
  iconName: z.enum(['octicon key', 'octicon lock', 'octicon server', 'octicon shield-lock', 'octicon sync']),
  categories: z
    .array(z.enum(['Automation', 'continuous-integration', 'deployment', 'code-review', 'testing', 'utilities']))
    .min(1),
  filePatterns: z.array(z.string()).optional(),
});

test('each reusable workflow, and each common use of the action, has a template with the properties that GitHub shows', async () => {
  const names = [...reusableWorkflows, ...actionTemplates];
  const expected = names.flatMap((name) => [name, name.replace('.yml', '.properties.json')]);
  expect((await readdir(templatesFolder)).toSorted()).toEqual(expected.toSorted());
  for (const { name, text } of templates) {
    const file = join(templatesFolder, name.replace('.yml', '.properties.json'));
    expect(properties.parse(JSON.parse(await readFile(file, 'utf8'))).name).toBe(parseWorkflow(text).name);
  }
});

test.each(templates)('the template $name says which runner it needs', ({ name, text }) => {
  const [, runner = ''] = /^# Runner: (.*)$/m.exec(text) ?? [];
  expect(runner).toContain(`of version ${isReusable(name) ? '2.336.0' : '2.327.1'} or newer`);
});

describe.each(templates.filter(({ name }) => isReusable(name)))('the template $name', ({ name, text }) => {
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

describe('a template that runs the action', () => {
  const scene = openScene();

  /** Runs the template for a workspace of its own, with scripts that print the locks and their variables. */
  async function run(name: string, workspace: string, failing?: string) {
    const text = templates.find((template) => template.name === name)?.text ?? '';
    const findings = await findingsIn(`.github/workflows/${name}`, text, {
      [ourAction]: await readFile(ourActionFile, 'utf8'),
    });
    expect(findings).toEqual([]);
    const { baseUrl } = scene.service;
    const { secret } = await scene.service.token({ scopes: ['locks:write'] });
    const reading = await scene.service.token({ scopes: ['locks:read'] });
    const script = (file: string): string => `#!/usr/bin/env node
      console.log('serial: ' + (process.env.UNITY_SERIAL ?? ''));
      process.exitCode = ${file === failing ? 3 : 0};
      fetch('${baseUrl}/v1/workspaces/${workspace}/locks', { headers: { authorization: 'Bearer ${reading.secret}' } })
        .then((answer) => answer.json())
        .then(({ locks }) => console.log('locked: ' + locks.map(({ path }) => path).join(' ')));
    `;
    return runWorkflowJob({
      workflow: parseWorkflow(text.replace('workspace: game', `workspace: ${workspace}`)),
      vars: { WORKSPACE_BASE_URL: `${baseUrl}/v1` },
      secrets: { WORKSPACE_TOKEN: secret },
      uses: {
        async 'actions/checkout'({ job }) {
          for (const file of ['build.sh', 'test.sh', 'upload.sh', 'return-license.sh']) {
            await writeFile(join(job.folders.workspace, file), script(file));
            await chmod(join(job.folders.workspace, file), 0o755);
          }
          return undefined;
        },
      },
    });
  }

  /** A workspace with the pool that the template describes. */
  async function withSeats(): Promise<string> {
    const workspace = await scene.service.workspace();
    const text = templates.find(({ name }) => name === 'unity-seat.yml')?.text ?? '';
    const seats = [...text.matchAll(/^# {3,}(\{ "path".* \},?)$/gm)].map(([, item = '']) => item);
    await storePoolFile(scene.service.storage, workspace, 'unity-pro', `[${seats.join('')}]`);
    return workspace;
  }

  test.each([
    ['returns the license of a build that succeeds', undefined, 'success'],
    ['returns the license of a build that fails', 'build.sh', 'failure'],
  ] as const)(
    'unity-seat.yml holds a free seat, gives its serial to the build, and %s',
    async (_, failing, outcome) => {
      const workspace = await withSeats();
      await scene.lock(workspace, 'seats/1');
      const { result, step } = await run('unity-seat.yml', workspace, failing);
      expect(result).toBe(outcome);
      expect(step('Run ./build.sh').log).toBe('serial: ***\nlocked: seats/1 seats/2');
      expect(step('Run ./return-license.sh').log).toContain('locked: seats/1 seats/2');
      expect(await scene.locked(workspace)).toEqual(['seats/1']);
    },
  );

  test('one-machine.yml holds the machine for the tests, but not for the build and the upload', async () => {
    const workspace = await scene.service.workspace();
    const { result, step } = await run('one-machine.yml', workspace);
    expect(result).toBe('success');
    const logs = ['build', 'test', 'upload'].map((name) => step(`Run ./${name}.sh`).log.split('\n').at(-1));
    expect(logs).toEqual(['locked: ', 'locked: machines/bench-1', 'locked: ']);
    expect(await scene.locked(workspace)).toEqual([]);
  });
});
