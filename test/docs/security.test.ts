import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runMain } from '../service/cli/run-main.ts';
import { ask } from '../support/running-service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';

let service: ServiceProcess;
beforeAll(async () => {
  service = await startServiceProcess();
});
afterAll(() => service.stop());

const request = (method: string, path: string, json?: unknown, headers: Readonly<Record<string, string>> = {}) =>
  ask(service.baseUrl, method, `/workspaces/sample${path}`, { token: service.token, json, headers });

// Statements of the page that no other test covers.

test('a generated hook secret is repeated only to the same request with the same key', async () => {
  const hook = { url: 'https://1.1.1.1/hook', events: ['sync.failed'] };
  const key = { 'idempotency-key': 'one' };
  const { secret } = (await request('POST', '/hooks', hook, key)).body;
  expect(secret).toMatch(/^whsec_/);
  expect((await request('POST', '/hooks', hook, key)).body.secret).toBe(secret);
  expect((await request('POST', '/hooks', { ...hook, branches: ['main'] }, key)).status).toBe(422);
  expect((await request('POST', '/hooks', hook)).body).not.toHaveProperty('secret');
});

test('the database stores no token, only the secrets that git and deliveries need', async () => {
  const password = 'password-of-the-remote';
  const header = 'value-of-the-header';
  const query = 'query-of-the-address';
  const data = { WORKSPACE_SERVICE_DATA: service.folder };
  const made = await runMain(['token', 'create', '--name=ci', '--scopes=sync', '--json'], data);
  const remote = `https://ada:${password}@git.example.com/game.git`;
  const added = await runMain(['workspace', 'add', 'game', '--no-check'], {
    ...data,
    WORKSPACE_SERVICE_REMOTE: remote,
  });
  expect(added.code).toBe(0);
  const hook = await request('POST', '/hooks', { url: `https://1.1.1.1/?key=${query}`, headers: { 'x-key': header } });
  const files = (await readdir(service.folder)).filter((name) => name.startsWith('service.db'));
  const stored = Buffer.concat(await Promise.all(files.map((name) => readFile(join(service.folder, name)))));
  for (const secret of [service.token, JSON.parse(made.stdout).secret]) expect(stored.includes(secret)).toBe(false);
  for (const secret of [password, header, query, hook.body.secret]) expect(stored.includes(secret)).toBe(true);
});

test('only the user of the service can read the files', async () => {
  const modeOf = async (name: string) => ((await stat(join(service.folder, name))).mode & 0o777).toString(8);
  expect(await modeOf('.')).toBe('700');
  for (const name of ['service.db', 'service.db-wal', 'instance.db']) expect(await modeOf(name)).toBe('600');
});
