import { readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { workflowFile } from './workflow-file.ts';

/** Workflows that other repositories call to run the action. */
export const reusableWorkflows = ['locked-release.yml', 'sync-branch.yml', 'lock-guard.yml'] as const;

/** Permissions that a called job needs from its caller. Jobs without a token also need `id-token: write`. */
export const neededPermissions = (name: string) => ({
  contents: 'read',
  ...(name === 'lock-guard.yml' && { 'pull-requests': 'read' }),
});

export const templatesFolder = fileURLToPath(new URL('../../docs/workflow-templates/', import.meta.url));

export interface TextFile {
  readonly name: string;
  readonly text: string;
}

async function yamlIn(folder: string): Promise<readonly TextFile[]> {
  const names = (await readdir(folder)).filter((name) => /\.ya?ml$/.test(name));
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(`${folder}/${name}`, 'utf8') })));
}

export const workflows = await yamlIn(dirname(workflowFile('ci.yml')));

/** The templates after an organization has copied them and GitHub has filled in the branch. */
export const templates = (await yamlIn(templatesFolder)).map(({ name, text }) => ({
  name,
  text: text.replaceAll('$default-branch', 'main'),
}));
