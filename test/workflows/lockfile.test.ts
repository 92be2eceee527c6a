import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { reusableWorkflows, type TextFile, workflows } from './our-workflows.ts';
import { workflowFile } from './workflow-file.ts';

interface Lockfile {
  readonly version: string;
  readonly workflows: Readonly<Record<string, readonly string[]>>;
  readonly dependencies: Readonly<Record<string, object>>;
}

const locked: Lockfile = parse(await readFile(workflowFile('actions.lock'), 'utf8'));

/** Cannot be locked: it uses the version that a release is about to tag, which has no commit before. */
const unlocked = 'probe.yml';

/** The key of each action that a workflow uses, with its version. A lockfile names no folders of a repository. */
const actionsOf = (workflow: TextFile) =>
  new Map(
    [...workflow.text.matchAll(/uses: ([\w.-]+\/[\w.-]+)(?:\/[\w./-]+)?@([0-9a-f]{40}) # (\S+)$/gm)].map(
      ([, repository = '', commit = '', version = '']) => [`${repository}@${commit}`, version] as const,
    ),
  );

const lockedWorkflows = workflows.filter(({ name }) => name !== unlocked);

test('the lockfile has each workflow that others can call, and all others but one, with the actions that it uses', () => {
  const used = lockedWorkflows.map((each) => [
    `.github/workflows/${each.name}`,
    [...actionsOf(each).keys()].toSorted(),
  ]);
  expect(locked.version).toBe('v0.0.2');
  expect(locked.workflows, 'run gh actions-lock --no-narrow').toEqual(Object.fromEntries(used));
  for (const name of reusableWorkflows) expect(locked.workflows).toHaveProperty([`.github/workflows/${name}`]);
});

test('the lockfile has exactly the actions in use, at their commits and versions, which have no dependencies', () => {
  const versions = new Map(lockedWorkflows.flatMap((each) => [...actionsOf(each)]));
  const expected = [...versions].map(([key, version]) => [
    key,
    { ref: version, commit: `sha1-${key.split('@')[1]}`, owner_id: expect.any(Number), repo_id: expect.any(Number) },
  ]);
  expect(locked.dependencies, 'run gh actions-lock --no-narrow').toEqual(Object.fromEntries(expected));
});
