import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSqlite } from '../../../src/service/storage/sqlite.ts';
import { ask } from '../../support/running-service.ts';
import {
  type RunningCommand,
  type ServiceProcess,
  startCommand,
  startServiceProcess,
} from '../../support/service-process.ts';
import { commandEnvironment, runMain } from './run-main.ts';

let folder: string;
const started: (ServiceProcess | RunningCommand)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'workspace-cli-'));
});
afterEach(async () => {
  for (const process of started.splice(0)) {
    const command = 'command' in process ? process.command : process;
    command.signal('SIGKILL');
    await command.ended();
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

async function startService(...args: string[]): Promise<ServiceProcess> {
  const service = await startServiceProcess({ folder, args });
  started.push(service);
  return service;
}

function start(args: readonly string[], environment: NodeJS.ProcessEnv = {}): RunningCommand {
  const command = startCommand(args, { folder, environment });
  started.push(command);
  return command;
}

const whoAmI = async ({ baseUrl, token }: { baseUrl: string; token: string }) =>
  (await ask(baseUrl, 'GET', '/workspaces', { token })).status;

describe('serve', () => {
  test('tells where it listens, and nothing else on stdout', async () => {
    const command = start(['serve', '--port', '0']);
    const line = await command.line(() => true);
    const [, base = ''] =
      /^workspace-service \d+\.\d+\.\d+\S* listens on (http:\/\/127\.0\.0\.1:\d+\/v1)$/.exec(line) ?? [];
    expect((await ask(base.replace('/v1', ''), 'GET', '/readyz')).status).toBe(200);
    command.signal('SIGTERM');
    expect(await command.ended()).toBe(0);
    const dashboard = base.replace('/v1', '/');
    expect(command.stdout()).toContain(`${line}\nIts dashboard is at ${dashboard}\n`);
    expect(command.stdout()).toContain(`  ${dashboard}sign-in?link=wsl_`);
    // The log is one JSON object a line.
    const log = command
      .stderr()
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text).msg);
    expect(log).toContain('listening');
  });

  test('believes the proxies that it is told to trust, of any that are named', async () => {
    const service = await startService('--trusted-proxy', '192.0.2.1,198.51.100.0/24', '--trusted-proxy', '127.0.0.1');
    const headers = { 'x-forwarded-for': '192.0.2.7, 203.0.113.9, 198.51.100.3' };
    const { headers: answered } = await ask(service.baseUrl, 'GET', '/workspaces', { token: service.token, headers });
    const id = answered.get('x-request-id') ?? '';
    const line = await service.command.logLine((text) => text.includes(id));
    expect(JSON.parse(line)).toMatchObject({ msg: 'request', origin_address: '203.0.113.9' });
  });

  test('takes its flags from the environment', async () => {
    const environment = {
      WORKSPACE_SERVICE_PORT: '0',
      WORKSPACE_SERVICE_HOST: 'localhost',
      WORKSPACE_SERVICE_JSON: 'true',
      WORKSPACE_SERVICE_DEV: '1',
      WORKSPACE_SERVICE_LOG_LEVEL: 'silent',
      WORKSPACE_SERVICE_RATE_LIMIT: '7/s',
      WORKSPACE_SERVICE_MAX_HOOKS: '2',
      WORKSPACE_SERVICE_MAX_WAITING_DELIVERIES: '7',
      WORKSPACE_SERVICE_ALLOW_HOOK_NETWORK: '10.0.0.0/8,192.168.0.0/16',
      WORKSPACE_SERVICE_WINDOWS_PATHS: 'true',
    };
    const command = start(['serve'], environment);
    const listening = JSON.parse(await command.line(() => true));
    expect(listening).toEqual({
      event: 'listening',
      base_url: expect.stringMatching(/^http:\/\/localhost:\d+\/v1$/),
      dashboard_url: expect.stringMatching(/^http:\/\/localhost:\d+\/$/),
      sign_in_link: expect.stringMatching(/^http:\/\/localhost:\d+\/sign-in\?link=wsl_[\w-]{43}$/),
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      token: expect.stringMatching(/^wsa_/),
      workspace: 'sample',
    });
    const token: string = listening.token;
    const { headers } = await ask(listening.base_url, 'GET', '/workspaces', { token });
    expect(headers.get('ratelimit-policy')).toBe('"token";q=420;w=60');
    const hook = (url: string) => ask(listening.base_url, 'POST', '/workspaces/sample/hooks', { token, json: { url } });
    expect((await hook('http://10.1.2.3/')).status).toBe(201);
    expect((await hook('http://127.0.0.1/')).status).toBe(201);
    expect((await hook('http://172.16.0.1/')).status).toBe(422);
    expect((await hook('http://10.1.2.4/')).body.type).toBe('urn:workspace-automation:problem:quota-exceeded');
    const lock = { path: 'nul.txt', type: 'exclusive', ttl: '1h' };
    expect((await ask(listening.base_url, 'POST', '/workspaces/sample/locks', { token, json: lock })).status).toBe(422);
    command.signal('SIGINT');
    expect(await command.ended()).toBe(0);
    expect(command.stderr()).toBe('');
  });

  test('tells all flags that are wrong at once', async () => {
    const args = [
      'serve',
      '--prot',
      '80',
      '--port',
      'http',
      '--rate-limit=fast',
      '--allow-hook-network',
      '10.0.0.1/8,x',
    ];
    const { code, stdout, stderr } = await runMain(args, { WORKSPACE_SERVICE_DEV: 'yes' });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const told = stderr.trimEnd().split('\n');
    expect(told.map((line) => line.replace(/^workspace-service: /, '').split(' ')[0])).toEqual([
      '"--prot"',
      'WORKSPACE_SERVICE_DEV',
      '--port',
      '--allow-hook-network',
      '--allow-hook-network',
      '--rate-limit',
      'See:',
    ]);
    expect(told[0]).toContain('Did you mean --port?');
  });
});

describe('serve --dev', () => {
  test('welcomes with all that is needed to try it', async () => {
    const command = start(['serve', '--dev', '--port', '0']);
    await command.line((line) => line.includes('path: Content/Hero.uasset'));
    const [, baseUrl = ''] = /WORKSPACE_BASE_URL=(\S+)/.exec(command.stdout()) ?? [];
    const [, token = ''] = /WORKSPACE_TOKEN=(\S+)/.exec(command.stdout()) ?? [];
    expect(await whoAmI({ baseUrl, token })).toBe(200);
    expect(command.stdout().split(token)).toHaveLength(2);
    expect(command.stdout()).toContain('not one for production');
    expect(command.stdout()).toMatch(/^ {2}curl -H "Authorization: Bearer \$WORKSPACE_TOKEN" /m);
    const step = /^ {2}- uses: <owner>\/workspace-automation@main\n {4}with:\n(?: {6}\S+: .+\n)+/m.exec(
      command.stdout(),
    );
    expect(step?.[0]).toContain(`      base-url: ${baseUrl}\n`);
    expect(step?.[0]).toContain('      workspace: sample\n');

    const locked = await ask(baseUrl, 'POST', '/workspaces/sample/locks', {
      token,
      json: { path: 'Content/Hero.uasset', type: 'exclusive', ttl: '1h' },
    });
    expect(locked.status).toBe(201);
    const { body } = await ask(baseUrl, 'GET', '/workspaces/sample/branches', { token });
    expect(body.branches.map(({ name }: { name: string }) => name)).toEqual(['main', 'release/1.0']);
  });

  test('makes a token for 7 days at each start, and keeps what is there', async () => {
    const first = await startService();
    await ask(first.baseUrl, 'POST', '/workspaces/sample/locks', {
      token: first.token,
      json: { path: 'a', type: 'exclusive', ttl: '1h' },
    });
    expect(await first.stop()).toBe(0);
    const second = await startService();
    expect(second.token).not.toBe(first.token);
    expect(await whoAmI({ baseUrl: second.baseUrl, token: first.token })).toBe(200);
    const { body } = await ask(second.baseUrl, 'GET', '/workspaces/sample/locks', { token: second.token });
    expect(body.locks).toHaveLength(1);
    const { tokens } = JSON.parse((await runMain(['token', 'list', '--json'], commandEnvironment(folder))).stdout);
    expect(tokens).toHaveLength(2);
    expect(Date.parse(tokens[1].expires_at) - Date.parse(tokens[1].created_at)).toBe(7 * 86_400_000);
  });
});

describe('one folder', () => {
  test('takes one service at a time, also after the first was killed', async () => {
    const first = await startService();
    const { code, stdout, stderr } = await runMain(['serve', '--port', '0'], commandEnvironment(folder));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      `workspace-service: Another service is running on the data folder "${folder}". Stop it first, give this one a folder of its own with --data, or use PostgreSQL (DATABASE_URL) to run several.\n`,
    );
    expect(await whoAmI(first)).toBe(200);

    expect(await first.kill()).toBe('SIGKILL');
    const second = await startService();
    expect(await whoAmI({ ...second, token: first.token })).toBe(200);
  });

  test('goes on with a sync that a killed service was at', async () => {
    const first = await startService();
    const { token } = first;
    const path = '/workspaces/sample/sync';
    const { body: sync } = await ask(first.baseUrl, 'POST', path, { token, json: { branch: 'main' } });
    await first.kill();
    const storage = await openSqlite({ folder });
    // As a service leaves it that dies while it fetches: its lease has long to go.
    await storage.claim((db) =>
      db
        .updateTable('syncs')
        .set({ status: 'running', finished_at: null, lease_owner: 'dead', lease_until: Date.now() + 3_600_000 })
        .where('id', '=', sync.sync_id)
        .execute(),
    );
    await storage.close();
    const second = await startService();
    const status = async () =>
      (await ask(second.baseUrl, 'GET', `/workspaces/sample/syncs/${sync.sync_id}`, { token })).body.status;
    await expect.poll(status, { timeout: 20_000 }).toBe('succeeded');
  });

  test('loses the mirrors of workspaces that are no more when the service starts', async () => {
    const { mkdir, readdir, writeFile } = await import('node:fs/promises');
    const mirrors = join(folder, 'mirrors');
    for (const name of ['gone.git', 'sample.git', 'Not Ours.git', 'notes']) {
      await mkdir(join(mirrors, name), { recursive: true });
      await writeFile(join(mirrors, name, 'HEAD'), 'ref: refs/heads/main\n');
    }
    await runMain(
      ['workspace', 'add', 'sample', '--remote=https://a.example/x.git', '--no-check'],
      commandEnvironment(folder),
    );
    const service = await startService();
    expect((await readdir(mirrors)).toSorted()).toEqual(['Not Ours.git', 'notes', 'sample.git']);
    expect(service.command.stderr()).toContain('"workspaces":["gone"]');
  });
});
