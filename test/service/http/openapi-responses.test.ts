import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Resolve } from '../../../src/service/outbound/target-address.ts';
import { pushSecretAudited } from '../../../src/service/workspaces/push-secret.ts';
import { databaseKinds, sqlite } from '../../support/databases.ts';
import { createRepository } from '../../support/git-repository.ts';
import { listenHere } from '../../support/listen.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';
import { deleted, type Pushed, pushDelivery } from '../syncs/push-delivery.ts';
import { askWrongly, type DescribedAsk, describedOperation } from './described-operation.ts';
import { expectDescribed, optionalHeaders } from './described-operations.ts';
import { addressIn, expectedOperations } from './operations.ts';
import { sharedService } from './shared-service.ts';

describe.each(databaseKinds)('the API on $name', (kind) => {
  let resolve: Resolve = () => Promise.reject(new Error('No name resolves here.'));
  const service = sharedService(kind, { resolve: (hostname) => resolve(hostname) });
  const folder = folderOfTests();
  let limited: string;
  let other: string;
  let workspace: string;

  beforeAll(async () => {
    const repository = createRepository(folder);
    repository.commit({ branch: 'main', files: { 'a.txt': 'a' } }, { branch: 'art', files: { 'b.txt': 'b' } });
    other = (await service.token({ name: 'other' })).secret;
    limited = (await service.token({ scopes: [] })).secret;
    workspace = await service.workspace(`file://${repository.path}`);
  });

  const lock = (path: string = randomUUID()) => ({ path, type: 'exclusive', ttl: '1h' });
  const operation = (method: string, path: string) => describedOperation(service, { method, path, workspace, limited });

  test.each(['/healthz', '/readyz', '/v1/openapi.json', '/v1/workspaces', '/v1/token', '/metrics'])(
    'GET %s returns exactly the described responses',
    async (path) => {
      const { ask, expectAllSeen } = operation('GET', path);
      await ask('');
      await expectAllSeen();
    },
  );

  test('GET branches returns exactly the described responses', async () => {
    const { ask, expectAllSeen } = operation('GET', '/v1/workspaces/{id}/branches');
    expect((await ask('')).body.branches).toHaveLength(2);
    await ask({ id: 'nowhere' });
    expect((await ask({ id: service.home })).status).toBe(503);
    await expectAllSeen();
  });

  /** The remote keeps the first request waiting until the second has been answered. */
  async function askTwiceAtOnce(ask: DescribedAsk): Promise<void> {
    const remote = createServer();
    const { port } = await listenHere(remote);
    const id = await service.workspace(`https://127.0.0.1:${port}/assets.git`);
    const connected = once(remote, 'connection');
    const given = { json: { branch: 'main' }, headers: { 'idempotency-key': randomUUID() } };
    const first = ask({ id }, given);
    const [socket] = await connected;
    remote.close();
    expect((await ask({ id }, given)).status).toBe(409);
    socket.destroy();
    expect((await first).status).toBe(202);
  }

  test('POST check returns exactly the described responses', async () => {
    const { ask, expectAllSeen } = operation('POST', '/v1/workspaces/{id}/check');
    await askWrongly(ask);
    const held = await service.ask('POST', `/v1/workspaces/${workspace}/locks`, {
      token: service.secret,
      json: lock('checked.txt'),
    });
    expect((await ask('', { json: { paths: ['checked.txt', 'free.txt'], branch: 'main' } })).body).toEqual({
      locks: [{ ...held.body, branch: null }],
      push_locks: 'all',
      latest: 'off',
      outdated: [],
    });
    await ask({ id: 'nowhere' }, { json: { paths: [] } });
    await expectAllSeen();
  });

  test('POST sync and GET syncs return exactly the described responses', async () => {
    const { ask, expectAllSeen } = operation('POST', '/v1/workspaces/{id}/sync');
    await askWrongly(ask);
    const given = { json: { branch: 'main' }, headers: { 'idempotency-key': randomUUID() } };
    const started = await ask('', given);
    expect((await ask('', given)).body).toEqual(started.body);
    expect([started.status, started.body.status]).toEqual([202, 'queued']);
    await ask('', { json: { branch: 'not-there' } });
    await ask({ id: 'nowhere' }, { json: { branch: 'main' } });
    await askTwiceAtOnce(ask);
    await expectAllSeen();

    const status = operation('GET', '/v1/workspaces/{id}/syncs/{sync_id}');
    const { sync_id } = started.body;
    await expect.poll(async () => (await status.ask({ sync_id })).body.status).toBe('succeeded');
    await status.ask({ sync_id: 'nothing' });
    await status.expectAllSeen();
    const synced = operation('GET', '/v1/workspaces/{id}/branches');
    expect((await synced.ask('')).body.branches).toContainEqual(
      expect.objectContaining({ name: 'main', synced_head: expect.any(String), synced_at: expect.any(String) }),
    );
  });

  test('POST push returns exactly the described responses', async () => {
    const { ask, expectAllSeen } = operation('POST', '/v1/workspaces/{id}/push/{forge}');
    const { commit, now } = service.storage;
    const actor = { name: 'operator', tokenId: null, address: null };
    const secret = await commit('global', (db) => pushSecretAudited(db, now, actor, workspace, false));
    const sent = async (pushed: Pushed, headers = {}) => {
      const delivery = pushDelivery('github', secret, pushed);
      const given = { token: undefined, raw: delivery.raw, headers: { ...delivery.headers, ...headers } };
      return (await ask({ forge: 'github' }, given)).status;
    };
    expect(await sent({})).toBe(202);
    expect(await sent(deleted)).toBe(204);
    expect(await sent({}, { 'x-hub-signature-256': 'sha256=0' })).toBe(404);
    expect(await sent({}, { 'content-type': 'application/x-www-form-urlencoded' })).toBe(415);
    expect(await sent({ event: 'issues' })).toBe(422);
    expect(await sent({}, { 'content-length': String(25 * 1024 * 1024 + 1) })).toBe(413);
    await expectAllSeen();
  });

  test('POST locks returns exactly the described responses', async () => {
    const { ask, expectAllSeen } = operation('POST', '/v1/workspaces/{id}/locks');
    await askWrongly(ask);
    const json = lock();
    const taking = { referer: 'https://ci.example.com/runs/1', 'idempotency-key': randomUUID() };
    const { headers } = await ask('', { json, headers: taking });
    await ask('', { json, headers: taking });
    const condition = { 'if-match': headers.get('etag') ?? '' };
    const renewing = { ...condition, 'idempotency-key': randomUUID() };
    expect((await ask('', { json, headers: renewing })).status).toBe(200);
    await ask('', { json, headers: renewing });
    expect((await ask('', { json })).body.lock.path).toBe(json.path);
    const prefer = { prefer: 'wait=0' };
    expect((await ask('', { json, headers: prefer })).body.queue).toEqual({ position: 1, length: 1 });
    expect((await ask('', { json: lock(), headers: prefer })).status).toBe(201);
    expect((await ask('', { json, headers: condition, token: other })).status).toBe(403);
    await ask('', { json, headers: { 'if-match': '"lock_1"' } });
    await ask('', { json: lock(), headers: { 'if-match': '"lock_1"' } });
    await ask({ id: 'nowhere' }, { json });
    await expectAllSeen();
  });

  test('GET queue returns exactly the described responses', async () => {
    const { ask, expectAllSeen } = operation('GET', '/v1/workspaces/{id}/queue');
    const { ask: take } = operation('POST', '/v1/workspaces/{id}/locks');
    const json = lock();
    const { headers } = await take('', { json });
    const waiting = take('', { json, headers: { prefer: 'wait=30' } });
    await expect
      .poll(async () => (await ask('')).body.queue)
      .toContainEqual(expect.objectContaining({ path: json.path, position: 1 }));
    await service.ask('DELETE', `/v1/workspaces/${workspace}/locks/${encodeURIComponent(json.path)}`, {
      token: service.secret,
      headers: { 'if-match': headers.get('etag') ?? '' },
    });
    expect((await waiting).status).toBe(201);
    await ask('?path=');
    await ask({ id: 'nowhere' });
    await expectAllSeen();
  });

  test('POST queue and DELETE queue return exactly the described responses', async () => {
    const { ask, expectAllSeen } = operation('POST', '/v1/workspaces/{id}/queue');
    await askWrongly(ask);
    const json = lock();
    await operation('POST', '/v1/workspaces/{id}/locks').ask('', { json });
    const given = { json: { path: json.path }, token: other };
    expect((await ask('', given)).body).toMatchObject({ path: json.path, position: 1, owner: 'other', note: null });
    await ask('', given);
    expect((await ask('', { json: { path: json.path } })).body.detail).toContain('You hold the lock on');
    await ask({ id: 'nowhere' }, { json: { path: json.path } });
    await expectAllSeen();

    const withdrawal = operation('DELETE', '/v1/workspaces/{id}/queue');
    for (const status of [204, 404]) {
      expect((await withdrawal.ask(`?path=${json.path}`, { token: other })).status).toBe(status);
    }
    await withdrawal.ask('');
    await withdrawal.expectAllSeen();
  });

  test('GET locks returns exactly the described responses', async () => {
    const { ask, expectAllSeen } = operation('GET', '/v1/workspaces/{id}/locks');
    const post = operation('POST', '/v1/workspaces/{id}/locks');
    for (let taken = 0; taken < 3; taken += 1) await post.ask('', { json: lock() });
    expect((await ask('?limit=2')).body.next_cursor).not.toBeNull();
    expect((await ask('')).body.next_cursor).toBeNull();
    expect((await ask('?path=free', { headers: { prefer: 'wait=1' } })).body.locks).toEqual([]);
    await ask('?limit=0');
    await ask({ id: 'nowhere' });
    const unknown = await service.ask('PATCH', `/v1/workspaces/${workspace}/locks`, { token: service.secret });
    expect(unknown.headers.get('allow')).toBe('GET, HEAD, POST');
    expectDescribed('GET', '/v1/workspaces/{id}/locks', unknown);
    await expectAllSeen();
  });

  test('DELETE locks returns exactly the described responses', async () => {
    const { ask, expectAllSeen } = operation('DELETE', '/v1/workspaces/{id}/locks/{path}');
    const json = lock('a/b');
    await operation('POST', '/v1/workspaces/{id}/locks').ask('', { json });
    const { path } = json;
    await ask({ path }, { token: other });
    await ask({ path }, { headers: { 'if-match': '"lock_1"' } });
    await ask({ path: 'a//b' });
    expect((await ask({ path })).status).toBe(204);
    expect((await ask({ path })).status).toBe(404);
    await expectAllSeen();
  });

  test('POST hooks returns exactly the described responses', async () => {
    const { ask, expectAllSeen } = operation('POST', '/v1/workspaces/{id}/hooks');
    await askWrongly(ask);
    const json = { url: 'https://ci.example.com/hook', branches: ['main'], headers: { 'x-a': 'b' } };
    const [creating, replacing] = [randomUUID(), randomUUID()].map((key) => ({
      json,
      headers: { 'idempotency-key': key },
    }));
    const created = await ask('', creating);
    expect([created.status, created.body.header_names]).toEqual([201, ['x-a']]);
    expect((await ask('', creating)).status).toBe(201);
    expect((await ask('', replacing)).status).toBe(200);
    await ask('', replacing);
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
    await expectAllSeen();
  });
});

describe('a token that exceeds its rate limit', () => {
  const service = sharedService(sqlite, { rateLimit: { perSecond: 0.001, burst: 1 } });
  /** They are never refused with the scope for them. */
  const releases = ['releaseLock', 'endLease'];
  const guarded = expectedOperations.filter(({ need }) => need !== 'anyone');

  test.each(guarded)('gets the described response from $operationId', async (operation) => {
    const { method, path } = operation;
    const { secret: token } = await service.token(releases.includes(operation.operationId) ? { scopes: ['sync'] } : {});
    const ask = () => service.ask(method, addressIn(operation, service.home), { token });
    await ask();
    const response = await ask();
    expect(response.status).toBe(429);
    expectDescribed(method, path, response);
    expect(optionalHeaders(method, path, 429).filter((name) => !response.headers.has(name))).toEqual([]);
  });
});
