import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { watch } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSqlite } from '../../../src/service/storage/sqlite.ts';
import { commandEnvironment, runMain, startMain } from '../../command/run-main.ts';
import { createRepository } from '../../support/git-repository.ts';
import { startOidcIssuer } from '../../support/oidc-issuer.ts';
import { ask } from '../../support/running-service.ts';
import { type ServiceProcess, startCommand, startServiceProcess } from '../../support/service-process.ts';
import { storeSyncs, storeWorkspace } from '../../support/stored-rows.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { ownerOf, storeObject } from '../lfs/stored-object.ts';

let folder: string;
const ends: (() => Promise<unknown>)[] = [];

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

function start(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const command = startMain(['serve', ...args], {
    ...commandEnvironment(folder),
    WORKSPACE_SERVICE_PORT: '0',
    ...environment,
  });
  ends.push(() => command.stop());
  return command;
}

async function startDev(...args: readonly string[]) {
  const command = start(['--dev', '--json', ...args]);
  const { base_url: baseUrl, token } = JSON.parse(await command.printed('listening'));
  return { ...command, baseUrl, token };
}

/** Starts a process, for behavior that needs one. */
async function startProcess(): Promise<ServiceProcess> {
  const service = await startServiceProcess({ folder });
  ends.push(service.kill);
  return service;
}

const whoAmI = async ({ baseUrl, token }: { baseUrl: string; token: string }) =>
  (await ask(baseUrl, 'GET', '/workspaces', { token })).status;

describe('serve', () => {
  test('prints where it listens, and nothing else, on stdout', async () => {
    const command = start([]);
    const [line = ''] = (await command.printed('listens on ')).split('\n');
    const [, origin = ''] =
      /^workspace-service \d+\.\d+\.\d+\S* \(revision \w+\) listens on (http:\/\/127\.0\.0\.1:\d+)\/v1$/.exec(line) ??
      [];
    expect((await ask(origin, 'GET', '/readyz')).status).toBe(200);
    expect(await command.stop()).toBe(0);
    const { stdout, stderr } = command.written();
    expect(stdout).toContain(`${line}\nIts dashboard is at ${origin}/\n`);
    expect(stdout).toContain(` --public-url ${origin}\n`);
    // The log has one JSON object per line.
    const log = stderr.trimEnd().split('\n');
    expect(log.map((text) => JSON.parse(text).msg)).toContain('listening');
  });

  test('trusts the proxies in all --trusted-proxy flags', async () => {
    const proxies = ['--trusted-proxy', '192.0.2.1,198.51.100.0/24', '--trusted-proxy', '127.0.0.1'];
    const { baseUrl, token, written } = await startDev(...proxies);
    const headers = { 'x-forwarded-for': '192.0.2.7, 203.0.113.9, 198.51.100.3' };
    const response = await ask(baseUrl, 'GET', '/workspaces', { token, headers });
    const id = response.headers.get('x-request-id') ?? '';
    const line = () =>
      written()
        .stderr.split('\n')
        .find((text) => text.includes(id)) ?? '{}';
    await expect.poll(() => JSON.parse(line())).toMatchObject({ msg: 'request', origin_address: '203.0.113.9' });
  });

  test('shows only its public URL to people', async () => {
    const publicUrl = 'https://assets.example.com';
    const json = JSON.parse(await start(['--json', '--public-url', `${publicUrl}/v1`]).printed('listening'));
    expect(json.base_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect(json).toMatchObject({ public_url: publicUrl, dashboard_url: `${publicUrl}/` });
    expect(json).not.toHaveProperty('sign_in_link');
    const refused = await runMain(['serve', '--public-url', `${publicUrl}/locks`], commandEnvironment(folder));
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('It must be like https://assets.example.com: a host'),
    });
  });

  test('exchanges identity tokens of issuers on this machine in development, for its own origin', async () => {
    const issuer = await startOidcIssuer();
    ends.push(async () => issuer.close());
    const { baseUrl } = await startDev();
    const rule = ['--owner=bot', '--scopes=sync', '--claim=project_id=22', `--issuer=${issuer.url}`];
    expect((await runMain(['trust', 'add', ...rule], commandEnvironment(folder))).code).toBe(0);
    const form = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: issuer.sign(new URL(baseUrl).origin, {
        project_id: '22',
        project_path: 'octo/game',
        pipeline_id: '7',
      }),
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const { status, body } = await ask(baseUrl, 'POST', '/token', { raw: String(form), headers });
    expect(status).toBe(200);
    const known = await ask(baseUrl, 'GET', '/token', { token: body.access_token });
    expect(known.body).toMatchObject({ name: 'octo/game pipeline 7', owner: 'bot', scopes: ['sync'] });
  });

  test('reads its flags from the environment', async () => {
    const environment = {
      WORKSPACE_SERVICE_HOST: 'localhost',
      WORKSPACE_SERVICE_JSON: 'true',
      WORKSPACE_SERVICE_DEV: '1',
      WORKSPACE_SERVICE_LOG_LEVEL: 'silent',
      WORKSPACE_SERVICE_RATE_LIMIT: '7/s',
      WORKSPACE_SERVICE_ALLOW_HOOK_NETWORK: '10.0.0.0/8,192.168.0.0/16',
    };
    const command = start([], environment);
    const listening = JSON.parse(await command.printed('listening'));
    expect(listening).toEqual({
      event: 'listening',
      base_url: expect.stringMatching(/^http:\/\/localhost:\d+\/v1$/),
      // In development the URL is known, even with a port chosen by the system.
      public_url: listening.base_url.replace('/v1', ''),
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
    expect(await command.stop('SIGINT')).toBe(0);
    expect(command.written().stderr).toBe('');
  });
});

test('sign-in prints a sign-in link, and the start of the service names the command', async () => {
  const service = start([]);
  const printed = await service.printed('sign-in');
  expect(printed).toContain(`workspace-service sign-in --data ${folder} --public-url http://`);
  expect(printed).not.toContain('wsl_');
  const [, origin = ''] = /listens on (\S+)\/v1$/m.exec(printed) ?? [];
  const environment = { ...commandEnvironment(folder), WORKSPACE_SERVICE_PUBLIC_URL: origin };
  const { stdout } = await runMain(['sign-in'], environment);
  const [, link = ''] = /^ {2}(http\S+\/sign-in\?link=wsl_\S+)$/m.exec(stdout) ?? [];
  expect(await (await fetch(link)).text()).toContain('Sign in as administrator');
  await service.stop();
});

describe('serve --dev', () => {
  test('prints everything that is needed to try it', async () => {
    const stdout = await start(['--dev']).printed('path: Content/Hero.uasset');
    const [, baseUrl = ''] = /WORKSPACE_BASE_URL=(\S+)/.exec(stdout) ?? [];
    const [, token = ''] = /WORKSPACE_TOKEN=(\S+)/.exec(stdout) ?? [];
    expect(await whoAmI({ baseUrl, token })).toBe(200);
    expect(stdout.split(token)).toHaveLength(2);
    expect(stdout).toContain('not for production: it');
    expect(stdout).toMatch(/^ {2}curl -H "Authorization: Bearer \$WORKSPACE_TOKEN" /m);
    const step = /^ {2}- uses: workspace-automation\/workspace-automation@main\n {4}with:\n(?: {6}\S+: .+\n)+/m.exec(
      stdout,
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

  test('keeps its data apart from that of a real service, which would accept its token', async () => {
    const command = startCommand(['serve', '--dev', '--port=0'], { cwd: folder });
    await command.line((line) => line.includes('listens on'));
    command.signal('SIGTERM');
    expect(await command.ended()).toBe(0);
    expect(await readdir(folder)).toEqual(['workspace-dev-data']);
  });

  test('creates a token for 7 days at each start, and keeps existing data', async () => {
    const first = await startDev();
    const lock = { path: 'a', type: 'exclusive', ttl: '1h' };
    await ask(first.baseUrl, 'POST', '/workspaces/sample/locks', { token: first.token, json: lock });
    expect(await first.stop()).toBe(0);
    const second = await startDev();
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
  test('accepts one service at a time, and another one after a crash', async () => {
    const first = await startProcess();
    const { code, stdout, stderr } = await runMain(['serve', '--port', '0'], commandEnvironment(folder));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      `workspace-service: Another service is running on the data folder "${folder}". Stop it, or choose another folder with --data. To run several services, use PostgreSQL (DATABASE_URL), and a separate folder for each.\n`,
    );
    expect(await whoAmI(first)).toBe(200);

    expect(await first.kill()).toBe('SIGKILL');
    const second = await startDev();
    expect(await whoAmI({ ...second, token: first.token })).toBe(200);
  });

  test('refuses another database, which would remove its mirrors, until the operator says so', async () => {
    const first = start([]);
    await first.printed('listens on ');
    await first.stop();
    await storeObject(folder, { id: 'game', created_at: 1 }, Buffer.from('hero'));
    for (const name of await readdir(folder)) if (name.startsWith('service.db')) await rm(join(folder, name));
    const storage = await openSqlite({ folder });
    const workspace = { id: 'other', remote: 'https://git.example.com/other.git' };
    await storeWorkspace(storage, workspace);
    await storage.close();
    const { code, stdout, stderr } = await runMain(['serve', '--port', '0'], commandEnvironment(folder));
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`The mirrors in "${folder}" belong to another database. Correct DATABASE_URL or --data.`);
    expect(await readdir(join(folder, 'lfs'))).toEqual(['game@1']);
    await rm(join(folder, 'database-id'));
    for (let starts = 0; starts < 2; starts += 1) {
      const next = start([]);
      await next.printed('listens on ');
      await next.stop();
    }
    expect(await readdir(join(folder, 'lfs'))).toEqual([]);
  });

  test('gets the id of its database as a complete file, so that a power failure leaves none or all of it', async () => {
    const events: string[] = [];
    const watcher = watch(folder, (event, name) => events.push(`${event} ${name}`));
    ends.push(async () => watcher.close());
    const command = start([]);
    await command.printed('listens on ');
    await expect.poll(() => events).toContain('rename database-id');
    // A file that is written in place also changes.
    expect(events).not.toContain('change database-id');
  });

  test('resumes the work of a killed service, and removes the mirrors of removed workspaces', async () => {
    const mirrors = join(folder, 'mirrors');
    for (const name of ['gone.git', 'kept.git', 'Not Ours.git', 'notes']) {
      await mkdir(join(mirrors, name), { recursive: true });
      await writeFile(join(mirrors, name, 'HEAD'), 'ref: refs/heads/main\n');
    }
    // Unlike the others, this folder is a repository: any other would be created again.
    await rm(join(mirrors, 'kept.git'), { recursive: true });
    execFileSync('git', ['init', '--quiet', '--bare', join(mirrors, 'kept.git')]);
    for (const id of ['lost', 'kept']) await storeObject(folder, { id, created_at: 1 }, Buffer.from(id));
    const remote = createRepository(folder);
    remote.commit({ branch: 'main', files: { a: '1' } });
    const storage = await openSqlite({ folder });
    for (const id of ['sample', 'kept']) await storeWorkspace(storage, { id, remote: `file://${remote.path}` });
    // The earlier workspace with this id was removed at another instance.
    const kept = await ownerOf({ storage }, 'kept');
    await storeObject(folder, kept, Buffer.from('kept'));
    // As left by a service that dies while it fetches: its claim is far from expired.
    const claim = { claimed_by: 'dead', claimed_until: Date.now() + 3_600_000, finished_at: null };
    await storeSyncs(storage, { id: `sync_${randomUUID()}`, workspace_id: 'sample', status: 'running', ...claim });
    const status = async () => (await storage.read.selectFrom('syncs').select('status').execute())[0]?.status;
    const service = await startDev();
    await expect.poll(() => service.written().stderr).toMatch(/"workspaces":\["gone","(kept","lost|lost","kept)"\]/);
    const left = (await readdir(mirrors)).filter((name) => name !== 'sample.git');
    expect(left.toSorted()).toEqual(['Not Ours.git', 'kept.git', 'notes']);
    expect(await readdir(join(folder, 'lfs'))).toEqual([`kept@${kept.created_at}`]);
    await expect.poll(status).toBe('succeeded');
    await storage.close();
  });
});
