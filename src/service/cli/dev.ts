import { pathToFileURL } from 'node:url';
import { scopes } from '../contract/scopes.ts';
import type { Git } from '../git/git.ts';
import type { Storage } from '../storage/storage.ts';
import { workflowStep } from '../tokens/first-steps.ts';
import { createTokenAudited } from '../tokens/tokens.ts';
import { addWorkspaceAudited } from '../workspaces/workspaces.ts';
import { operatorActor } from './storage-command.ts';

const workspace = 'sample';
const lifetime = { seconds: 7 * 86_400 };

/** Creates sample data: a workspace with a small repository as its remote, and a token with all scopes. */
export async function setUpDev({ commit, now }: Storage, git: Git) {
  // A URL, because the address of a remote must not contain spaces.
  const remote = pathToFileURL(await git.sampleRepository()).href;
  const operator = operatorActor();
  const { secret } = await commit('global', async (db) => {
    await addWorkspaceAudited(db, now, operator, { id: workspace, remote });
    return createTokenAudited(db, now, operator, { name: 'dev', scopes, workspaces: null, lifetime });
  });
  return { token: secret, workspace };
}

export type DevSetup = Awaited<ReturnType<typeof setUpDev>>;

/** Startup message of development mode. Nothing else shows the token. */
export function welcome(baseUrl: string, { token, workspace }: DevSetup): string[] {
  return [
    '',
    'This is a service for experiments, not for production: it mirrors repositories on this machine, delivers webhooks',
    'to it, and shows a token with all scopes that is valid for 7 days. Each start creates another one.',
    '',
    'Lock a file, in another terminal:',
    '',
    `  export WORKSPACE_BASE_URL=${baseUrl}`,
    `  export WORKSPACE_TOKEN=${token}`,
    `  export WORKSPACE_ID=${workspace}`,
    '  curl -H "Authorization: Bearer $WORKSPACE_TOKEN" -H "Content-Type: application/json" \\',
    `    -d '{"path":"Content/Maps/Arena.umap","type":"exclusive","ttl":"10m"}' \\`,
    '    "$WORKSPACE_BASE_URL/workspaces/$WORKSPACE_ID/locks"',
    '',
    'A step for a workflow whose runner is on this machine, with the token in the secret WORKSPACE_TOKEN:',
    '',
    ...workflowStep({ baseUrl, workspace, scopes }).map((line) => `  ${line}`),
  ];
}
