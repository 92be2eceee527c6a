import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { AcquireLockRequest } from '../../src/client/acquire-lock.ts';
import type { ClientOptions, WorkspaceId } from '../../src/client/client.ts';
import type { ReleaseLockRequest } from '../../src/client/release-lock.ts';
import type { Scope } from '../../src/service/contract/scopes.ts';
import { type Fault, isLocking, isReleasing, once, startFaultProxy } from '../support/fault-proxy.ts';
import { startDecodingProxy, startStrictProxy } from '../support/other-servers/slash-proxies.ts';
import { serviceOfTests } from '../support/service-of-tests.ts';
import { storeLocks } from '../support/stored-rows.ts';
import { errorOf, hero, lockPath, ofKind, realTime, testClient, ttl, workspaceId } from './test-client.ts';

type TestClient = ReturnType<typeof testClient>;

const service = serviceOfTests();
let ada: string;
let grace: string;

beforeAll(async () => {
  ada = (await service.token({ name: 'ada' })).secret;
  grace = (await service.token({ name: 'grace', scopes: ['locks:write'] })).secret;
});

const clientOf = (token: string, baseUrl = `${service.baseUrl}/v1`, options: Partial<ClientOptions> = {}) =>
  testClient(baseUrl, { credentials: { kind: 'static', token }, ...options });

const newWorkspace = async (): Promise<WorkspaceId> => workspaceId(await service.workspace());

const lockOn = (workspace: WorkspaceId, path = hero): AcquireLockRequest => ({
  workspace,
  path,
  type: 'exclusive',
  ttl: ttl('1h'),
  idempotencyKey: crypto.randomUUID(),
});

async function take(client: TestClient, request: AcquireLockRequest) {
  return ofKind(await client.acquireLock(request, client.within()), 'acquired');
}

const locksIn = async (client: TestClient, workspace: WorkspaceId) =>
  (await client.listLocks({ workspace }, client.within())).items;

describe('the client with this service', () => {
  test('acquires a lock that others see, lists it and releases it', async () => {
    const workspace = await newWorkspace();
    const origin = 'https://ci.example.com/runs/1';
    const client = clientOf(ada, undefined, { origin });
    const other = clientOf(grace);
    const { lock } = await take(client, lockOn(workspace));
    expect(lock).toMatchObject({ path: hero, type: 'exclusive', owner: 'ada', origin, etag: `"${lock.id}"` });
    expect(lock.fence).toEqual(expect.any(Number));
    expect(lock.fence).toBe(lock.raw['fence']);
    expect(Date.parse(lock.expires_at ?? '') - Date.parse(lock.acquired_at ?? '')).toBe(3_600_000);
    expect(Math.abs(Date.parse(lock.acquired_at ?? '') - client.serverNow())).toBeLessThan(60_000);

    const held = ofKind(await other.acquireLock(lockOn(workspace), other.within()), 'held');
    expect(held).toMatchObject({
      mayBeOurs: false,
      retryAfterMs: expect.any(Number),
      holder: { id: lock.id, owner: 'ada', origin, expires_at: lock.expires_at },
    });
    expect(held.error.request).toContain('request id req_');

    const listed = await other.listLocks({ workspace }, other.within());
    expect(listed).toMatchObject({ incomplete: undefined, items: [{ path: hero, id: lock.id, raw: lock.raw }] });

    for (const kind of ['released', 'absent']) {
      expect(await client.releaseLock({ workspace, path: hero, proof: lock }, client.within())).toEqual({ kind });
    }
  });

  test('reports a lock that changed hands as lost, and leaves it to its holder', async () => {
    const workspace = await newWorkspace();
    const client = clientOf(ada);
    const release = (more: Partial<ReleaseLockRequest>) =>
      client.releaseLock({ workspace, path: hero, ...more }, client.within());
    const { lock } = await take(client, lockOn(workspace));
    await release({ proof: { id: lock.id } });
    const { lock: next } = await take(clientOf(grace), lockOn(workspace));
    for (const proof of [{ etag: lock.etag }, { id: lock.id }]) {
      expect(ofKind(await release({ proof }), 'other').holder).toMatchObject({ id: next.id, owner: 'grace' });
    }
    expect(ofKind(await release({ proof: { id: next.id } }), 'failed').error.status).toBe(403);
    expect((await release({ force: true })).kind).toBe('released');
  });

  test('acquires a hundred locks at once, lists them in pages with a thousand others, and releases them', async () => {
    const workspace = await newWorkspace();
    const client = clientOf(ada);
    const paths = Array.from({ length: 1_100 }, (_, n) => lockPath(`Content/Map ${n % 7}/Ä#${n}.uasset`));
    const [own, others] = [paths.slice(0, 100), paths.slice(100)];
    await storeLocks(service.storage, ...others.map((path) => ({ workspace_id: workspace, path })));
    const taken = await Promise.all(own.map((path) => take(client, lockOn(workspace, path))));
    const { items, incomplete } = await client.listLocks({ workspace }, client.within());
    expect(incomplete).toBeUndefined();
    expect(new Set(items.map(({ path }) => path))).toEqual(new Set(paths));
    const some = await client.listLocks({ workspace, filter: { prefix: 'Content/Map 3/' } }, client.within());
    expect(some.items).toHaveLength(paths.filter((path) => path.startsWith('Content/Map 3/')).length);
    const released = await Promise.all(
      taken.map(({ lock }) => client.releaseLock({ workspace, path: lock.path, proof: lock }, client.within())),
    );
    expect(new Set(released.map(({ kind }) => kind))).toEqual(new Set(['released']));
    expect(await locksIn(client, workspace)).toHaveLength(others.length);
  });

  test('reports errors in the words of the service, with the request id from its log', async () => {
    const client = clientOf(ada);
    const { message } = await errorOf(client.listLocks({ workspace: workspaceId('none') }, client.within()));
    expect(message).toMatch(/^\S.* \(GET \/v1\/workspaces\/none\/locks: 404 Not Found, request id req_[\w-]+\)\.$/);
    expect(service.log()).toContain(/req_[\w-]+/.exec(message)?.[0]);
    const sync = { workspace: await newWorkspace(), branch: 'main' };
    const { failure } = await errorOf(clientOf(grace).startSync(sync, client.within()));
    expect(failure).toMatchObject({ missingScope: 'sync' satisfies Scope });
    expect((await errorOf(clientOf(`wsa_${'x'.repeat(43)}`).ask())).status).toBe(401);
  });

  test('two requests with one key acquire a single lock', async () => {
    const client = clientOf(ada, undefined, realTime);
    const request = lockOn(await newWorkspace());
    const [first, second] = await Promise.all([1, 2].map(() => take(client, request)));
    expect(second?.lock.id).toBe(first?.lock.id);
    const replay = await take(clientOf(ada), { ...request, firstSentAt: Number.NaN });
    expect(replay.lock.id).toBe(first?.lock.id);
  });
});

describe('if a response is lost after the service did its work', () => {
  const cut: Fault = { kind: 'done-then-cut' };
  const badGateway: Fault = { kind: 'done-then-answer', status: 502, headers: { 'content-type': 'text/html' } };
  const faults = [
    ['502', badGateway],
    ['reset', cut],
    ['truncated', { kind: 'done-then-truncated' }],
  ] as const;

  async function startProxy(matches: typeof isLocking, ...coming: readonly Fault[]) {
    const proxy = await startFaultProxy(service.port);
    onTestFinished(proxy.close);
    proxy.meet(once(matches, ...coming));
    return proxy;
  }

  test.each(faults)('(%s) the job gets the lock once', async (_, fault) => {
    const workspace = await newWorkspace();
    const proxy = await startProxy(isLocking, fault, fault);
    const client = clientOf(ada, proxy.baseUrl);
    const { lock } = await take(client, lockOn(workspace));
    expect(proxy.passed).toHaveLength(3);
    expect((await locksIn(client, workspace)).map(({ id }) => id)).toEqual([lock.id]);
  });

  test.each(faults)(
    '(%s) and all retries fail, the lock is unanswered, and the same key resolves it later',
    async (_, fault) => {
      const { baseUrl } = await startProxy(isLocking, fault, fault);
      const client = clientOf(ada, baseUrl, { retries: 1 });
      const workspace = await newWorkspace();
      const request = lockOn(workspace);
      ofKind(await client.acquireLock(request, client.within()), 'unanswered');
      const { lock } = await take(client, { ...request, firstSentAt: Number.NaN });
      expect((await locksIn(client, workspace)).map(({ id }) => id)).toEqual([lock.id]);
    },
  );

  test.each(faults.slice(0, 2))('(%s) a release is reported as released, not absent', async (_, fault) => {
    const workspace = await newWorkspace();
    const { baseUrl } = await startProxy(isReleasing, fault);
    const client = clientOf(ada, baseUrl);
    const { lock: proof } = await take(client, lockOn(workspace));
    expect(await client.releaseLock({ workspace, path: hero, proof }, client.within())).toEqual({ kind: 'released' });
    expect(await locksIn(client, workspace)).toEqual([]);
  });
});

test.each([
  ['refuses encoded slashes', startStrictProxy],
  ['decodes them', startDecodingProxy],
])('behind a proxy that %s, releases locks on all kinds of paths', async (_, startProxy) => {
  const workspace = await newWorkspace();
  const proxy = await startProxy(service.port);
  const client = clientOf(ada, proxy.baseUrl);
  for (const path of ['a/b/c', 'a b/c#d', 'ü/%2F/x', 'a?b/c&d', 'plain'].map(lockPath)) {
    const { lock } = await take(client, lockOn(workspace, path));
    for (const kind of ['released', 'absent']) {
      const result = await client.releaseLock({ workspace, path, proof: lock }, client.within());
      expect(result, path).toEqual({ kind });
    }
  }
  expect(await locksIn(client, workspace)).toEqual([]);
});
