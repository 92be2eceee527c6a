import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandEnvironment, runMain, startMain } from '../../command/run-main.ts';
import { nothing, reset } from '../../support/other-servers/responses.ts';
import { ask } from '../../support/running-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { startWebhookReceiver } from '../../support/webhook-receiver.ts';

const remotePassword = 's3cret-of-the-remote';
const hookSecret = `whsec_${Buffer.alloc(32, 'h').toString('base64')}`;
const hookHeader = 's3cret-of-the-header';
const hookQuery = 's3cret-of-the-query';
const wrongToken = `wsa_${'w'.repeat(43)}`;
const requestQuery = 's3cret-of-the-request';

/** Runs the service and many commands, with and without errors. Returns all their output. */
async function session(folder: string) {
  const environment = commandEnvironment(folder);
  const service = startMain(['serve', '--dev', '--json', '--port=0', '--log-level=trace'], environment);
  const { base_url: baseUrl, token } = JSON.parse(await service.printed('listening'));
  const receiver = await startWebhookReceiver();
  receiver.behave(nothing(500), reset, nothing(410));
  const written: string[] = [];
  const run = async (...args: string[]) => {
    const { stdout, stderr } = await runMain(args, environment);
    written.push(stdout, stderr);
    return stdout;
  };
  const request = (method: string, path: string, json?: unknown) => ask(baseUrl, method, path, { token, json });

  const { stdout: created } = await runMain(['token', 'create', '--name=ci', '--scopes=locks:admin'], environment);
  const [secret = ''] = created.split('\n');
  const remote = `https://ada:${remotePassword}@127.0.0.1:1/closed.git`;
  await run('workspace', 'add', 'closed', '--remote', remote, '--no-check');
  await run('workspace', 'add', 'closed2', '--remote', remote);
  await run('workspace', 'add', 'closed3', remote);
  await run('workspace', 'add', 'closed4', '--remote', remote.replace('https', 'http'));
  await run('workspace', 'list');
  await run('workspace', 'list', '--json');
  await run('token', 'list', '--json');
  await run('token', 'revoke', secret);
  await run('token', secret);

  const url = receiver.url(`/hook?key=${hookQuery}`);
  const headers = { 'x-key': hookHeader };
  await request('POST', '/workspaces/sample/hooks', { url, events: ['lock.acquired'], secret: hookSecret, headers });
  const made = await request('POST', '/workspaces/sample/hooks', { url: receiver.url('/other') });
  await request('POST', '/workspaces/sample/hooks', { url: `http://10.0.0.1/?key=${hookQuery}`, secret: hookSecret });
  const queued = await request('POST', '/workspaces/closed/sync', { branch: 'main' });
  await request('POST', '/workspaces/sample/locks', { path: 'a', type: 'exclusive', ttl: '1h' });
  await request('GET', `/workspaces/sample/locks?token=${requestQuery}`);
  await ask(baseUrl, 'GET', '/workspaces', { token: wrongToken });
  await ask(baseUrl, 'GET', '/workspaces', { token: secret });
  await receiver.nextDelivery();
  const log = () => service.written().stderr;
  await expect.poll(log).toContain('webhook delivery failed');
  await expect.poll(log).toContain('"sync failed"');
  const status = `/workspaces/closed/syncs/${queued.body.sync_id}`;
  const answers = ['/workspaces', '/workspaces/closed/branches', status].map((path) => request('GET', path));
  written.push(queued.text, ...(await Promise.all(answers)).map(({ text }) => text));
  await run('hook', 'list', 'sample');
  await run('hook', 'list', 'sample', '--json');
  await service.stop();
  await receiver.close();

  return {
    token,
    ...service.written(),
    commands: written.join(''),
    created,
    secrets: [
      secret,
      remotePassword,
      hookSecret,
      hookSecret.slice('whsec_'.length),
      made.body.secret,
      hookHeader,
      hookQuery,
      wrongToken,
      requestQuery,
      Buffer.from(`ada:${remotePassword}`).toString('base64'),
    ],
  };
}

test('only the command that creates a secret writes it', async () => {
  const folder = temporaryFolder();
  const { token, stdout, stderr: log, commands, created, secrets } = await session(folder);
  // The session did its work.
  expect(commands).toContain('It mirrors https://127.0.0.1:1/closed.git.');
  expect(commands).toMatch(/"status":"failed".*127\.0\.0\.1:1\/closed\.git/);
  expect(log.split('\n').length).toBeGreaterThan(10);
  expect(secrets).not.toContain(undefined);
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(10);
    expect(`${commands}${log}${stdout}`).not.toContain(secret);
  }
  expect(`${commands}${log}`).not.toContain(token);
  expect(stdout.split(token)).toHaveLength(2);
  expect(created.split(secrets[0] ?? '')).toHaveLength(2);

  const stored = (await readFile(join(folder, 'service.db'))).toString('latin1');
  expect(stored).not.toContain(token);
  expect(stored).not.toContain(secrets[0]);
});
