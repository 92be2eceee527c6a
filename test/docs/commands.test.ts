import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { welcome } from '../../src/service/cli/serve/dev.ts';
import { temporaryFolder } from '../support/git-folders.ts';
import { ask } from '../support/running-service.ts';
import { startCommand, startServiceProcess } from '../support/service-process.ts';
import { interfacePage, readme, section, snippets } from './pages.ts';

const command = fileURLToPath(new URL('../../bin/workspace-service.js', import.meta.url));

/** Runs a snippet as if pasted into a shell, but stops at the first command that fails. */
async function inShell(
  snippet: string,
  { cwd, env = {} }: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', snippet], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: cwd, ...env },
    timeout: 60_000,
  });
  return stdout;
}

test('the curl commands work with what `npm start` prints', async () => {
  const [start = ''] = snippets(section(readme, 'Run the service'), 'sh');
  expect(start.trim().split('\n')).toEqual(['npm ci', 'npm start']);
  const [lines = ''] = snippets(section(interfacePage, 'Try it with curl'), 'sh');
  expect(lines).toContain('curl');
  const cwd = await temporaryFolder();
  const service = await startServiceProcess();
  try {
    const exported = welcome(service.baseUrl, service).filter((line) => line.trim().startsWith('export '));
    expect(exported).toHaveLength(3);
    // By itself, curl does not fail when the answer is an error.
    const strict = 'curl() { command curl --fail-with-body --write-out "\\n" "$@"; }\n';
    const stdout = await inShell(`${exported.join('\n')}\n${strict}${lines}`, { cwd });
    const [branches, lock, sync, ...rest] = stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
    expect(branches.branches).toContainEqual(expect.objectContaining({ name: 'main' }));
    expect(lock).toMatchObject({ path: 'Content/Hero.uasset', type: 'exclusive', owner: 'dev' });
    expect(sync).toMatchObject({ status: 'queued', branch: 'main' });
    expect(rest).toEqual([]);
    const left = await ask(service.baseUrl, 'GET', `/workspaces/${service.workspace}/locks`, { token: service.token });
    expect(left.body.locks).toEqual([]);
  } finally {
    await service.stop();
  }
});

test('the commands for a team create a workspace, a token, and a service that accepts it', async () => {
  const [, lines = ''] = snippets(section(readme, 'Run the service'), 'sh');
  const commands = lines.trim().split('\n');
  expect(commands.every((line) => line.startsWith('npx workspace-service '))).toBe(true);
  const serve = commands.at(-1) ?? '';
  expect(serve).toMatch(/ serve .*--port 8080$/);

  const cwd = await temporaryFolder();
  const env = { WORKSPACE_SERVICE_DATA: join(cwd, 'data'), NODE: process.execPath, COMMAND: command };
  const asInstalled = 'npx() { shift; "$NODE" "$COMMAND" "$@"; }\n';
  // No server of this name exists that could list its branches.
  const setUp = commands.slice(0, -1).map((line) => line.replace(/ --remote /, ' --no-check$&'));
  const stdout = await inShell(asInstalled + setUp.join('\n'), { cwd, env });
  const [token = ''] = /^wsa_\S+$/m.exec(stdout) ?? [];

  const args = serve
    .split(' ')
    .slice(2)
    .map((word) => (word === '8080' ? '0' : word));
  const running = startCommand([...args, '--json'], { folder: join(cwd, 'data'), cwd: dirname(command) });
  try {
    const { base_url } = JSON.parse(await running.line((line) => line.includes('"listening"')));
    const { body } = await ask(base_url, 'GET', '/workspaces', { token });
    expect(body.workspaces).toMatchObject([{ id: 'game', remote: 'https://git.example.com/game.git' }]);
    await expect(
      ask(base_url, 'POST', '/workspaces/game/locks', { token, json: { path: 'a', type: 'exclusive', ttl: '1h' } }),
    ).resolves.toMatchObject({ status: 201, body: { owner: 'release-bot' } });
  } finally {
    running.signal('SIGTERM');
    await running.ended();
  }
});
