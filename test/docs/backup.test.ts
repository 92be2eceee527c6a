import { mkdir, readdir, rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runMain } from '../command/run-main.ts';
import { createPostgresDatabase, postgresServer } from '../support/databases.ts';
import { ask } from '../support/running-service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { installCommand, runSnippet, selfHosting, snippetWith } from './pages.ts';

let parent: string;
let folder: string;
let environment: NodeJS.ProcessEnv;
let service: ServiceProcess;

beforeEach(() => {
  parent = temporaryFolder();
  folder = join(parent, 'data');
  environment = {};
});
afterEach(() => service.kill());

async function start(): Promise<void> {
  service = await startServiceProcess({ folder, environment });
}

const send = (method: string, path: string, token: string, json?: object) =>
  ask(service.baseUrl, method, `/workspaces/sample${path}`, { token, ...(json && { json }) });

const lockOn = (token: string, path: string) => send('POST', '/locks', token, { path, type: 'exclusive', ttl: '1h' });

async function command(...args: readonly string[]) {
  const { stdout } = await runMain([...args, '--json'], { ...environment, WORKSPACE_SERVICE_DATA: folder });
  return JSON.parse(stdout);
}

/** A sync that succeeded. */
async function syncSample(): Promise<{ readonly sync_id: string; readonly received_objects: number }> {
  const { body } = await send('POST', '/sync', service.token, { branch: 'main' });
  const look = async () => (await send('GET', `/syncs/${body.sync_id}`, service.token)).body;
  await expect.poll(look).toMatchObject({ status: 'succeeded' });
  return look();
}

async function signIn(): Promise<string> {
  const { origin } = new URL(service.baseUrl);
  const body = new URLSearchParams({ token: service.token, to: '/' });
  const response = await fetch(`${origin}/sign-in`, { method: 'POST', headers: { origin }, body, redirect: 'manual' });
  return response.headers.get('set-cookie')?.split(';')[0] ?? '';
}

async function isSignedIn(cookie: string): Promise<boolean> {
  const response = await fetch(new URL('/', service.baseUrl), { headers: { cookie }, redirect: 'manual' });
  return response.status === 200;
}

/** Two locks, a token, a hook, a finished sync, a lock released by force, and a dashboard session. */
async function beforeBackup() {
  const { secret: token } = await command('token', 'create', '--name', 'ci', '--scopes', 'sync,locks:write');
  // A public IP address needs no name resolution; nothing is sent to it.
  const hook = await send('POST', '/hooks', service.token, { url: 'https://1.1.1.1/hook', events: ['sync.failed'] });
  expect(hook.status).toBe(201);
  const cookie = await signIn();
  expect(await isSignedIn(cookie)).toBe(true);
  const { sync_id: sync } = await syncSample();
  for (const path of ['kept', 'released-later', 'forced']) await lockOn(token, path);
  expect((await send('DELETE', '/locks/forced?force=true', service.token)).status).toBe(204);
  return { token: String(token), sync, hook: String(hook.body.id), cookie };
}

type History = Awaited<ReturnType<typeof beforeBackup>>;

/** Changes that the backup misses: a new lock, a released one, and a revoked token. Returns the last fence. */
async function afterBackup({ token }: History): Promise<number> {
  const { body } = await lockOn(token, 'taken-later');
  expect((await send('DELETE', '/locks/released-later', token)).status).toBe(204);
  const { tokens } = await command('token', 'list');
  const { id } = tokens.find(({ name }: { name: string }) => name === 'ci');
  await command('token', 'revoke', id);
  return body.fence;
}

/** Expects everything in the backup to be restored, and the page to be right about the rest. */
async function expectRestored({ token, sync, hook, cookie }: History, lastFence: number): Promise<void> {
  const { locks } = (await send('GET', '/locks', token)).body;
  expect(locks.map(({ path }: { path: string }) => path)).toEqual(['kept', 'released-later']);
  expect((await send('GET', `/syncs/${sync}`, token)).body.status).toBe('succeeded');
  expect((await command('hook', 'list', 'sample')).hooks).toMatchObject([{ id: hook }]);
  expect(await isSignedIn(cookie)).toBe(false);
  const taken = await lockOn(token, 'taken-later');
  expect(taken.status).toBe(201);
  expect(taken.body.fence).toBeGreaterThan(lastFence);
}

const places = () => ({
  '/var/lib/workspace-service': folder,
  '/var/backups/workspace-service': join(parent, 'backups'),
  ' --owner=workspace-service': '',
});

/** Runs a snippet with the command in place of the function of that name, and an editor that sets `DATABASE_URL`. */
async function runOnService(
  snippet: string,
  replaced: Readonly<Record<string, string>> = {},
  editor = '',
): Promise<string> {
  const programs = dirname(await installCommand(join(parent, 'bin')));
  const path = [programs, process.env['PATH']].join(delimiter);
  return runSnippet(`sudoedit() { ${editor || ':'}; }\n${snippet}`, {
    replaced: { ...places(), ...replaced },
    environment: { ...environment, PATH: path, WORKSPACE_SERVICE_DATA: folder },
  });
}

/** Makes a backup as the page describes, and returns its name. */
async function makeBackup(): Promise<string> {
  await runOnService(snippetWith(selfHosting, '%H%M%S'));
  const [name = '', ...more] = await readdir(join(parent, 'backups'));
  expect(more).toEqual([]);
  return name;
}

const restoreBackup = (name: string): Promise<string> =>
  runOnService(snippetWith(selfHosting, '2026-03-01-040000'), { '2026-03-01-040000.backup': name });

function query(text: string): unknown[] {
  const database = new DatabaseSync(join(folder, 'service.db'), { timeout: 10_000 });
  try {
    return database.prepare(text).all();
  } finally {
    database.close();
  }
}

const audit = (): unknown[] => query('select actor, action from audit');

test('a backup of a running service on SQLite restores its data', async () => {
  await start();
  const history = await beforeBackup();
  query(`insert into sign_in_links (hash, expires_at) values ('h', 9e15)`);
  const recorded = audit();
  expect(recorded.at(-1)).toMatchObject({ action: 'lock.force-released' });
  const backup = await makeBackup();
  const lastFence = await afterBackup(history);
  // As after a crash, with a journal of the lost database.
  await service.kill();
  expect(await readdir(folder)).toContain('service.db-wal');

  const told = (await restoreBackup(backup)).trim().split('\n');
  expect([told.at(0), told.at(-1)]).toEqual(['systemctl stop workspace-service', 'systemctl start workspace-service']);
  await start();
  await expectRestored(history, lastFence);
  expect(query("select hash from sign_in_links where hash = 'h'")).toEqual([]);
  // Starting with --dev created another token.
  expect(audit()).toEqual([
    ...recorded,
    expect.objectContaining({ action: 'backup.restored' }),
    expect.objectContaining({ action: 'token.created' }),
  ]);
});

test('a backup restores onto an empty machine, and the next sync fetches the mirrors again', async () => {
  await start();
  const history = await beforeBackup();
  const backup = await makeBackup();
  const lastFence = await afterBackup(history);
  await service.kill();

  folder = join(parent, 'new machine');
  await runOnService(snippetWith(selfHosting, 'copied.backup'), { 'copied.backup': backup });
  expect(await readdir(folder)).not.toContain('mirrors');
  await start();
  await expectRestored(history, lastFence);
  expect((await syncSample()).received_objects).toBeGreaterThan(0);
});

test.skipIf(postgresServer === undefined)(
  'the data of a service on SQLite moves to PostgreSQL and back (needs TEST_DATABASE_URL)',
  async () => {
    const { url, remove } = await createPostgresDatabase(postgresServer ?? '');
    await start();
    try {
      const { token, hook } = await beforeBackup();
      await mkdir(join(parent, 'backups'));
      const paths = ['kept', 'released-later'];
      for (const [move, editor] of [
        ['to', `export DATABASE_URL='${url}'`],
        ['back', 'unset DATABASE_URL'],
      ] as const) {
        const { body: last } = await lockOn(token, `before moving ${move}`);
        paths.push(`before moving ${move}`);
        await service.stop();
        const replaced = { 'move.backup': `${move}.backup` };
        await runOnService(snippetWith(selfHosting, 'sudoedit'), replaced, editor);
        environment = move === 'to' ? { DATABASE_URL: url } : {};
        // As the page describes the way back.
        if (move === 'to') await rm(join(folder, 'service.db'));
        await start();
        const { locks } = (await send('GET', '/locks', token)).body;
        expect(locks.map(({ path }: { path: string }) => path)).toEqual(paths.toSorted());
        expect((await command('hook', 'list', 'sample')).hooks).toMatchObject([{ id: hook }]);
        const { body: next } = await lockOn(token, `after moving ${move}`);
        paths.push(`after moving ${move}`);
        expect(next.fence).toBeGreaterThan(last.fence);
      }
    } finally {
      await service.kill();
      await remove();
    }
  },
);
