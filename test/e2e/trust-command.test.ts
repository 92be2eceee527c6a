import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startOidcIssuer } from '../support/oidc-issuer.ts';
import { type RunningCommand, startCommand } from '../support/service-process.ts';
import { folderOfTests } from '../support/temporary-folder.ts';
import { jobAt } from './scene.ts';

const audience = 'https://workspaces.example.com';
const folder = join(folderOfTests(), 'the data');

let service: RunningCommand;
let baseUrl: string;
beforeAll(async () => {
  const options = ['--port=0', '--json', '--allow-hook-network=127.0.0.0/8', `--public-url=${audience}`];
  service = startCommand(['serve', '--dev', ...options], { folder });
  const port = /"(?:port|address|base_url|url)":.*?:(\d+)/.exec(
    await service.line((line) => line.includes('127.0.0.1')),
  );
  baseUrl = `http://127.0.0.1:${port?.[1]}/v1`;
});
afterAll(async () => {
  service.signal('SIGTERM');
  await service.ended();
});

/** Runs a command in a shell, as if pasted by an operator. */
function runInShell(command: string): string {
  const installed = join(import.meta.dirname, '../../build/workspace-service.mjs');
  const script = `workspace-service() { "$NODE" "$INSTALLED" "$@"; }; ${command}`;
  return execFileSync('bash', ['--norc', '-c', script], {
    encoding: 'utf8',
    env: { NODE: process.execPath, INSTALLED: installed, WORKSPACE_SERVICE_DATA: folder },
  });
}

test.each([
  ['Enterprise Server', '/_services/token', '--issuer'],
  ['a forge other than GitHub', '/api/actions', '--claim'],
])('the command in the error admits the jobs of %s even without ids in the environment', async (_, path, option) => {
  const issuer = await startOidcIssuer({ path });
  onTestFinished(issuer.close);
  const ids = { GITHUB_REPOSITORY_ID: '', GITHUB_REPOSITORY_OWNER_ID: '', GITHUB_WORKFLOW_REF: '' };
  const env = { ...issuer.runnerEnvironment, ...ids, WORKSPACE_TOKEN: '' };
  const listing = { with: { operation: 'list-workspaces', audience } };
  const job = await jobAt(baseUrl, { env });
  const [error = '', ...others] = (await job.run(listing)).annotations.map(({ message }) => message);
  expect(others).toEqual([]);
  const [, command = ''] = /`(workspace-service trust add [^`]*)`/.exec(error) ?? [];
  expect(command).toContain(option);
  const filledIn = command.replace('OWNER', 'build-bot').replace('SCOPES', 'locks:write');
  expect(runInShell(filledIn)).toMatch(/^Added trust_/);
  const result = await (await jobAt(baseUrl, { env })).run(listing);
  expect(result, result.log).toMatchObject({ conclusion: 'success', outputs: { count: '1' } });
});
