import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../../support/running-service.ts';
import { runCommand, type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';
import { startWebhookReceiver } from '../../support/webhook-receiver.ts';
import { commandEnvironment, runMain } from './run-main.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'workspace-cli-'));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));

const remotePassword = 's3cret-of-the-remote';
const hookSecret = `whsec_${Buffer.alloc(32, 'h').toString('base64')}`;
const hookHeader = 's3cret-of-the-header';
const hookQuery = 's3cret-of-the-query';
const wrongToken = `wsa_${'w'.repeat(43)}`;
const requestQuery = 's3cret-of-the-request';

/** Everything that the service and the commands beside it do, well and badly. Gives all that was written. */
async function session(): Promise<{ service: ServiceProcess; commands: string; created: string; secrets: string[] }> {
  const service = await startServiceProcess({ folder, args: ['--log-level', 'trace'] });
  const receiver = await startWebhookReceiver();
  receiver.behave({ does: 'answer', status: 500 }, { does: 'reset' }, { does: 'answer', status: 410 });
  const written: string[] = [];
  const run = async (...args: string[]) => {
    const { stdout, stderr } = await runMain(args, commandEnvironment(folder));
    written.push(stdout, stderr);
    return stdout;
  };
  const { baseUrl, token } = service;
  const request = (method: string, path: string, json?: unknown) => ask(baseUrl, method, path, { token, json });

  const created = (await runCommand(['token', 'create', '--name=ci', '--scopes=locks:admin'], { folder })).stdout;
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
  await request('POST', '/workspaces/closed/sync', { branch: 'main' });
  await request('POST', '/workspaces/sample/locks', { path: 'a', type: 'exclusive', ttl: '1h' });
  await request('GET', `/workspaces/sample/locks?token=${requestQuery}`);
  await ask(baseUrl, 'GET', '/workspaces', { token: wrongToken });
  await ask(baseUrl, 'GET', '/workspaces', { token: secret });
  await receiver.nextDelivery();
  const log = () => service.command.stderr();
  await expect.poll(log, { timeout: 20_000 }).toContain('a webhook was not delivered');
  await expect.poll(log, { timeout: 20_000 }).toContain('a sync failed');
  await run('hook', 'list', 'sample');
  await run('hook', 'list', 'sample', '--json');
  await run('lock', 'list', 'sample');
  await run('lock', 'release', 'sample', 'a', '--force');
  await service.stop();
  await receiver.close();

  return {
    service,
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

test('no secret is written anywhere but where it is made', async () => {
  const { service, commands, created, secrets } = await session();
  const log = service.command.stderr();
  // The session did what it was to do.
  expect(commands).toContain('Released a.');
  expect(log.split('\n').length).toBeGreaterThan(10);
  expect(secrets).not.toContain(undefined);
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(10);
    expect(`${commands}${log}${service.command.stdout()}`).not.toContain(secret);
  }
  expect(`${commands}${log}`).not.toContain(service.token);
  expect(service.command.stdout().split(service.token)).toHaveLength(2);
  expect(created.split(secrets[0] ?? '')).toHaveLength(2);

  const stored = (await readFile(join(folder, 'service.db'))).toString('latin1');
  expect(stored).not.toContain(service.token);
  expect(stored).not.toContain(secrets[0]);
});
