import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Resolve } from '../../../src/service/webhooks/target-address.ts';
import { realDatabaseKinds, temporaryDataFolder } from '../../support/databases.ts';
import { createRepository } from '../../support/git-repository.ts';
import { type Ask, type Reply, type RunningService, startTestService } from '../../support/running-service.ts';
import { describedApp } from './described-app.ts';
import { describedStatuses, expectDescribed } from './described-operations.ts';

const app = describedApp();

/** These need a database that is gone, and a token that asks too much: other tests bring them about. */
const elsewhere = [429, 503];

describe.each(realDatabaseKinds)('the answers on $name are what the document describes', (kind) => {
  let service: RunningService;
  let folder: Awaited<ReturnType<typeof temporaryDataFolder>>;
  let token: string;
  let limited: string;
  let other: string;
  let workspace: string;
  let resolve: Resolve = () => Promise.reject(new Error('No name resolves here.'));

  beforeAll(async () => {
    folder = await temporaryDataFolder();
    const repository = createRepository(folder.folder);
    repository.commit({ branch: 'main', files: { 'a.txt': 'a' } }, { branch: 'art', files: { 'b.txt': 'b' } });
    service = await startTestService(kind, { resolve: (hostname) => resolve(hostname) });
    token = (await service.token()).secret;
    other = (await service.token({ name: 'other' })).secret;
    limited = (await service.token({ scopes: [] })).secret;
    workspace = await service.workspace(`file://${repository.path}`);
  });
  afterAll(async () => {
    await service.stop();
    await folder.remove();
  });

  const lock = (path: string = randomUUID()) => ({ path, type: 'exclusive', ttl: '1h' });
  const raw = (text: string, headers: Readonly<Record<string, string>> = {}): Ask => ({
    raw: text,
    headers: { 'content-type': 'application/json', ...headers },
  });

  /** Asks, and examines each answer before it is given back. */
  function operation(method: string, path: string) {
    const seen = new Set<number>();
    const ask = async (parameters: string | Readonly<Record<string, string>>, given: Ask = {}): Promise<Reply> => {
      const [values, query] = typeof parameters === 'string' ? [{}, parameters] : [parameters, ''];
      const address = Object.entries({ id: workspace, ...values }).reduce(
        (target, [name, value]) => target.replace(`{${name}}`, encodeURIComponent(value)),
        path,
      );
      const answer = await service.ask(method, address + query, { token, ...given });
      expectDescribed(app, method, path, answer);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      seen.add(answer.status);
      return answer;
    };
    const expectAllSeen = (): void => {
      const expected = describedStatuses(app, method, path).filter((status) => !elsewhere.includes(status));
      expect([...seen].sort()).toEqual(expected.sort());
    };
    return { ask, expectAllSeen };
  }

  /** What every operation with a body can answer before it looks at what is asked. */
  async function askWrongly(ask: (parameters: string, given?: Ask) => Promise<Reply>): Promise<void> {
    await ask('', raw('{'));
    await ask('', { ...raw('{}'), token: undefined });
    await ask('', { ...raw('{}'), token: limited });
    await ask('', raw(' '.repeat(1024 * 1024 + 1)));
    await ask('', raw('{}', { 'content-type': 'text/plain' }));
    await ask('', raw('{}'));
  }

  test.each([
    ['/healthz', [200]],
    ['/readyz', [200]],
    ['/v1/openapi.json', [200]],
    ['/v1/workspaces', [200, 401]],
    ['/metrics', [200, 401]],
  ])('GET %s', async (path, statuses) => {
    const { ask, expectAllSeen } = operation('GET', path);
    const answers = [await ask(''), await ask('', { token: undefined })];
    expect([...new Set(answers.map(({ status }) => status))]).toEqual(statuses);
    expectAllSeen();
  });

  test('GET branches', async () => {
    const { ask, expectAllSeen } = operation('GET', '/v1/workspaces/{id}/branches');
    expect((await ask('')).body.branches).toHaveLength(2);
    await ask('', { token: undefined });
    await ask({ id: 'nowhere' });
    expectAllSeen();
  });

  /** The remote keeps the first request waiting until the second has been answered. */
  async function askTwiceAtOnce(ask: ReturnType<typeof operation>['ask']): Promise<void> {
    const remote = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(remote, 'listening');
    const connected = once(remote, 'connection');
    const address = remote.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const id = await service.workspace(`https://127.0.0.1:${port}/assets.git`);
    const given = { json: { branch: 'main' }, headers: { 'idempotency-key': randomUUID() } };
    const first = ask({ id }, given);
    const [socket] = await connected;
    remote.close();
    expect((await ask({ id }, given)).status).toBe(409);
    socket.destroy();
    expect((await first).status).toBe(202);
  }

  test('POST sync and GET syncs', async () => {
    const { ask, expectAllSeen } = operation('POST', '/v1/workspaces/{id}/sync');
    await askWrongly(ask);
    const started = await ask('', { json: { branch: 'main' } });
    expect([started.status, started.body.status]).toEqual([202, 'queued']);
    await ask('', { json: { branch: 'not-there' } });
    await ask({ id: 'nowhere' }, { json: { branch: 'main' } });
    await askTwiceAtOnce(ask);
    expectAllSeen();

    const status = operation('GET', '/v1/workspaces/{id}/syncs/{sync_id}');
    const { sync_id } = started.body;
    await expect.poll(async () => (await status.ask({ sync_id })).body.status, { timeout: 20_000 }).toBe('succeeded');
    await status.ask({ sync_id }, { token: undefined });
    await status.ask({ sync_id }, { token: limited });
    await status.ask({ sync_id: 'nothing' });
    status.expectAllSeen();
    const synced = operation('GET', '/v1/workspaces/{id}/branches');
    expect((await synced.ask('')).body.branches).toContainEqual(
      expect.objectContaining({ name: 'main', synced_head: expect.any(String), synced_at: expect.any(String) }),
    );
  });

  test('POST locks', async () => {
    const { ask, expectAllSeen } = operation('POST', '/v1/workspaces/{id}/locks');
    await askWrongly(ask);
    const json = lock();
    const { headers } = await ask('', { json, headers: { referer: 'https://ci.example.com/runs/1' } });
    const condition = { 'if-match': headers.get('etag') ?? '' };
    expect((await ask('', { json, headers: condition })).status).toBe(200);
    expect((await ask('', { json })).body.lock.path).toBe(json.path);
    expect((await ask('', { json, headers: condition, token: other })).status).toBe(403);
    await ask('', { json, headers: { 'if-match': '"lock_1"' } });
    await ask({ id: 'nowhere' }, { json });
    expectAllSeen();
  });

  test('GET locks', async () => {
    const { ask, expectAllSeen } = operation('GET', '/v1/workspaces/{id}/locks');
    const post = operation('POST', '/v1/workspaces/{id}/locks');
    for (let taken = 0; taken < 3; taken += 1) await post.ask('', { json: lock() });
    expect((await ask('?limit=2')).body.next_cursor).not.toBeNull();
    expect((await ask('')).body.next_cursor).toBeNull();
    await ask('?limit=0');
    await ask('', { token: undefined });
    await ask('', { token: limited });
    await ask({ id: 'nowhere' });
    expectAllSeen();
  });

  test('DELETE locks', async () => {
    const { ask, expectAllSeen } = operation('DELETE', '/v1/workspaces/{id}/locks/{path}');
    const json = lock('a/b');
    await operation('POST', '/v1/workspaces/{id}/locks').ask('', { json });
    const { path } = json;
    await ask({ path }, { token: undefined });
    await ask({ path }, { token: limited });
    await ask({ path }, { token: other });
    await ask({ path }, { headers: { 'if-match': '"lock_1"' } });
    await ask({ path: 'a//b' });
    expect((await ask({ path })).status).toBe(204);
    expect((await ask({ path })).status).toBe(404);
    expectAllSeen();
  });

  test('POST hooks', async () => {
    const { ask, expectAllSeen } = operation('POST', '/v1/workspaces/{id}/hooks');
    await askWrongly(ask);
    const json = { url: 'https://ci.example.com/hook', branches: ['main'], headers: { 'x-a': 'b' } };
    const created = await ask('', { json });
    expect([created.status, created.body.header_names]).toEqual([201, ['x-a']]);
    expect((await ask('', { json })).status).toBe(200);
    await ask({ id: 'nowhere' }, { json });
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<readonly string[]>();
    resolve = () => {
      asked.resolve();
      return answered.promise;
    };
    const given = { json, headers: { 'idempotency-key': randomUUID() } };
    const first = ask('', given);
    await asked.promise;
    expect((await ask('', given)).status).toBe(409);
    answered.reject(new Error('The name does not resolve.'));
    expect((await first).status).toBe(200);
    expectAllSeen();
  });
});
