import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { welcome } from '../../src/service/cli/serve/dev.ts';
import { temporaryFolder } from '../support/git-folders.ts';
import { ask } from '../support/running-service.ts';
import { startCommand, startServiceProcess } from '../support/service-process.ts';
import { interfacePage, readme, runSnippet, section, snippets } from './pages.ts';

const command = fileURLToPath(new URL('../../bin/workspace-service.js', import.meta.url));

test('the curl commands work with what `npm start` prints', async () => {
  const [start = ''] = snippets(section(readme, 'Run the service'), 'sh');
  expect(start.trim().split('\n')).toEqual(['npm ci', 'npm start']);
  const [lines = ''] = snippets(section(interfacePage, 'Try it with curl'), 'sh');
  expect(lines).toContain('curl');
  const service = await startServiceProcess();
  try {
    const exported = welcome(service.baseUrl, service).filter((line) => line.trim().startsWith('export '));
    expect(exported).toHaveLength(3);
    // By itself, curl does not fail when the answer is an error.
    const strict = 'curl() { command curl --fail-with-body --write-out "\\n" "$@"; }\n';
    const stdout = await runSnippet(`${exported.join('\n')}\n${strict}${lines}`, { cwd: await temporaryFolder() });
    const answers = stdout.split('\n').filter((line) => line !== '');
    const [branches, lock, sync, ...rest] = answers.map((line) => JSON.parse(line));
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
  const folder = join(cwd, 'data');
  const environment = { HOME: cwd, WORKSPACE_SERVICE_DATA: folder, NODE: process.execPath, COMMAND: command };
  const asInstalled = 'npx() { shift; "$NODE" "$COMMAND" "$@"; }\n';
  // No server of this name exists that could list its branches.
  const setUp = commands.slice(0, -1).map((line) => line.replace(/ --remote /, ' --no-check$&'));
  const stdout = await runSnippet(asInstalled + setUp.join('\n'), { cwd, environment });
  const [token = ''] = /^wsa_\S+$/m.exec(stdout) ?? [];

  const args = serve.replace(/8080$/, '0 --json').split(' ').slice(2);
  const running = startCommand(args, { folder, cwd: dirname(command) });
  try {
    const { base_url } = JSON.parse(await running.line((line) => line.includes('"listening"')));
    const { body } = await ask(base_url, 'GET', '/workspaces', { token });
    expect(body.workspaces).toMatchObject([{ id: 'game', remote: 'https://git.example.com/game.git' }]);
    const json = { path: 'a', type: 'exclusive', ttl: '1h' };
    const taken = await ask(base_url, 'POST', '/workspaces/game/locks', { token, json });
    expect(taken).toMatchObject({ status: 201, body: { owner: 'release-bot' } });
  } finally {
    running.signal('SIGTERM');
    await running.ended();
  }
});
