import { expect } from 'vitest';
import { runMain } from '../service/cli/run-main.ts';
import { ask } from '../support/running-service.ts';
import type { ServiceProcess } from '../support/service-process.ts';

const sample = '/workspaces/sample';

/** What a service held before its backup, and after. */
export interface History {
  readonly token: string;
  readonly sync: string;
  readonly hook: string;
  /** Of a dashboard session. */
  readonly cookie: string;
  readonly fence: number;
}

const lockOn = (service: ServiceProcess, token: string, path: string) =>
  ask(service.baseUrl, 'POST', `${sample}/locks`, { token, json: { path, type: 'exclusive', ttl: '1h' } });

const release = (service: ServiceProcess, token: string, path: string, query = '') =>
  ask(service.baseUrl, 'DELETE', `${sample}/locks/${path}${query}`, { token });

async function command(service: ServiceProcess, environment: NodeJS.ProcessEnv, ...args: readonly string[]) {
  const { stdout } = await runMain([...args, '--json'], { ...environment, WORKSPACE_SERVICE_DATA: service.folder });
  return JSON.parse(stdout);
}

/** A sync that succeeded. */
export async function syncSample({
  baseUrl,
  token,
}: ServiceProcess): Promise<{ readonly sync_id: string; readonly received_objects: number }> {
  const { body } = await ask(baseUrl, 'POST', `${sample}/sync`, { token, json: { branch: 'main' } });
  const look = async () => (await ask(baseUrl, 'GET', `${sample}/syncs/${body.sync_id}`, { token })).body;
  await expect.poll(look, { timeout: 30_000 }).toMatchObject({ status: 'succeeded' });
  return look();
}

async function signIn({ baseUrl, token }: ServiceProcess): Promise<string> {
  const { origin } = new URL(baseUrl);
  const answer = await fetch(`${origin}/sign-in`, {
    method: 'POST',
    headers: { origin },
    body: new URLSearchParams({ token, to: '/' }),
    redirect: 'manual',
  });
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

async function isSignedIn({ baseUrl }: ServiceProcess, cookie: string): Promise<boolean> {
  const answer = await fetch(new URL('/', baseUrl), { headers: { cookie }, redirect: 'manual' });
  return answer.status === 200;
}

/** Two locks, a token, a hook, a finished sync, a lock released by force, and a dashboard session. */
export async function beforeBackup(service: ServiceProcess, environment: NodeJS.ProcessEnv): Promise<History> {
  const made = await command(service, environment, 'token', 'create', '--name', 'ci', '--scopes', 'sync,locks:write');
  const token: string = made.secret;
  const hook = await ask(service.baseUrl, 'POST', `${sample}/hooks`, {
    token: service.token,
    // A public address, so that no name must be resolved; nothing is sent to it.
    json: { url: 'https://1.1.1.1/hook', events: ['sync.failed'] },
  });
  expect(hook.status).toBe(201);
  const cookie = await signIn(service);
  expect(await isSignedIn(service, cookie)).toBe(true);
  const { sync_id: sync } = await syncSample(service);
  for (const path of ['kept', 'released-later', 'forced']) await lockOn(service, token, path);
  expect((await release(service, service.token, 'forced', '?force=true')).status).toBe(204);
  return { token, sync, hook: hook.body.id, cookie, fence: 0 };
}

/** What the backup misses: a new lock, a released one, and a revoked token. Returns the last fence. */
export async function afterBackup(
  service: ServiceProcess,
  environment: NodeJS.ProcessEnv,
  history: History,
): Promise<History> {
  const { body } = await lockOn(service, history.token, 'taken-later');
  expect((await release(service, history.token, 'released-later')).status).toBe(204);
  const { tokens } = await command(service, environment, 'token', 'list');
  const { id } = tokens.find(({ name }: { name: string }) => name === 'ci');
  await command(service, environment, 'token', 'revoke', id);
  return { ...history, fence: body.fence };
}

/** Everything in the backup is there, and what the page says about the rest is true. */
export async function expectRestored(
  service: ServiceProcess,
  environment: NodeJS.ProcessEnv,
  { token, sync, hook, cookie, fence }: History,
): Promise<void> {
  const { locks } = (await ask(service.baseUrl, 'GET', `${sample}/locks`, { token })).body;
  expect(locks.map(({ path }: { path: string }) => path)).toEqual(['kept', 'released-later']);
  expect((await ask(service.baseUrl, 'GET', `${sample}/syncs/${sync}`, { token })).body.status).toBe('succeeded');
  expect((await command(service, environment, 'hook', 'list', 'sample')).hooks).toMatchObject([{ id: hook }]);
  expect(await isSignedIn(service, cookie)).toBe(false);
  const taken = await lockOn(service, token, 'taken-later');
  expect(taken.status).toBe(201);
  expect(taken.body.fence).toBeGreaterThan(fence);
}
