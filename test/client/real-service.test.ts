import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClientOptions, LockRequest, WorkspaceId } from '../../src/client/client.ts';
import type { Scope } from '../../src/interface/scopes.ts';
import { databaseKinds } from '../support/databases.ts';
import { createRepository, manyCommits } from '../support/git-repository.ts';
import { afterItsWork, type Fate } from '../support/other-servers/faults.ts';
import { startOtherServer } from '../support/other-servers/other-server.ts';
import { startApacheLike, startDecodingProxy } from '../support/other-servers/slash-proxies.ts';
import { type RunningService, startTestService } from '../support/running-service.ts';
import { errorOf, hero, lockPath, ofKind, testClient, ttl, workspaceId } from './test-client.ts';

const [kind] = databaseKinds;
if (kind === undefined) throw new Error('There is no database to test on.');

let service: RunningService;
let folder: string;
let ada: string;
let grace: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'workspace-client-'));
  service = await startTestService(kind, { allowedNetworks: ['127.0.0.0/8'] });
  ada = (await service.token({ name: 'ada' })).secret;
  grace = (await service.token({ name: 'grace', scopes: ['locks:write'] })).secret;
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

const clientOf = (token: string, baseUrl = `${service.baseUrl}/v1`, options: Partial<ClientOptions> = {}) =>
  testClient(baseUrl, { token, ...options });

const newWorkspace = async (remote?: string): Promise<WorkspaceId> => workspaceId(await service.workspace(remote));

const lockOn = (workspace: WorkspaceId, path = hero, key: string = randomUUID()): LockRequest => ({
  workspace,
  path,
  type: 'exclusive',
  ttl: ttl('1h'),
  idempotencyKey: key,
});

describe('with our own service', () => {
  test('a lock is taken, seen by others, listed, released, and gone', async () => {
    const workspace = await newWorkspace();
    const origin = 'https://ci.example.com/runs/1';
    const client = clientOf(ada, undefined, { origin });
    const other = clientOf(grace);
    const { lock, replayed } = ofKind(await client.acquireLock(lockOn(workspace), client.within()), 'acquired');
    expect(replayed).toBe(false);
    expect(lock).toMatchObject({
      path: hero,
      type: 'exclusive',
      owner: 'ada',
      origin,
      expiry: 'stated',
      fence: expect.any(Number),
    });
    expect(lock.fence).toBe(lock.raw['fence']);
    expect(lock.etag).toBe(`"${lock.id}"`);
    expect(Date.parse(lock.expires_at ?? '') - Date.parse(lock.acquired_at ?? '')).toBe(3_600_000);
    expect(Math.abs(Date.parse(lock.acquired_at ?? '') - client.serverNow())).toBeLessThan(60_000);

    const held = ofKind(await other.acquireLock(lockOn(workspace), other.within()), 'held');
    expect(held).toMatchObject({
      mayBeOurs: false,
      retryAfterMs: expect.any(Number),
      holder: { id: lock.id, owner: 'ada', origin, expires_at: lock.expires_at },
    });
    expect(held.error.requestId).toMatch(/^req_/);

    const listed = await other.listLocks({ workspace }, other.within());
    expect(listed).toMatchObject({ incomplete: undefined, items: [{ path: hero, id: lock.id, raw: lock.raw }] });

    expect(await client.releaseLock({ workspace, path: hero, proof: lock }, client.within())).toEqual({
      kind: 'released',
    });
    expect(await client.releaseLock({ workspace, path: hero, proof: lock }, client.within())).toEqual({
      kind: 'absent',
    });
  });

  test('a lock that has changed hands is lost, and stays with its holder', async () => {
    const workspace = await newWorkspace();
    const client = clientOf(ada);
    const other = clientOf(grace);
    const { lock } = ofKind(await client.acquireLock(lockOn(workspace), client.within()), 'acquired');
    await client.releaseLock({ workspace, path: hero, proof: { id: lock.id } }, client.within());
    const next = ofKind(await other.acquireLock(lockOn(workspace), other.within()), 'acquired');
    for (const proof of [{ etag: lock.etag }, { id: lock.id }]) {
      const lost = ofKind(await client.releaseLock({ workspace, path: hero, proof }, client.within()), 'lost');
      expect(lost.holder).toMatchObject({ id: next.lock.id, owner: 'grace' });
    }
    const refused = await client.releaseLock({ workspace, path: hero, proof: { id: next.lock.id } }, client.within());
    expect(ofKind(refused, 'failed').error.status).toBe(403);
    const forced = await client.releaseLock({ workspace, path: hero, force: true }, client.within());
    expect(forced.kind).toBe('released');
  });

  test('more than a thousand locks are taken at once, listed by pages, and released', async () => {
    const workspace = await newWorkspace();
    const client = clientOf(ada);
    const paths = Array.from({ length: 1_010 }, (_, n) => lockPath(`Content/Map ${n % 7}/Ä#${n}.uasset`));
    const taken = await Promise.all(paths.map((path) => client.acquireLock(lockOn(workspace, path), client.within())));
    expect(new Set(taken.map((each) => each.kind))).toEqual(new Set(['acquired']));
    const { items, incomplete } = await client.listLocks({ workspace }, client.within());
    expect(incomplete).toBeUndefined();
    expect(new Set(items.map(({ path }) => path))).toEqual(new Set(paths));
    const some = await client.listLocks({ workspace, filter: { prefix: 'Content/Map 3/' } }, client.within());
    expect(some.items).toHaveLength(paths.filter((path) => path.startsWith('Content/Map 3/')).length);
    const released = await Promise.all(
      taken.map((each) => {
        const { lock } = ofKind(each, 'acquired');
        return client.releaseLock({ workspace, path: lock.path, proof: lock }, client.within());
      }),
    );
    expect(new Set(released.map((each) => each.kind))).toEqual(new Set(['released']));
    expect((await client.listLocks({ workspace }, client.within())).items).toEqual([]);
  });

  test('sync, branches and workspaces are read', async () => {
    const remote = createRepository(folder);
    remote.commit(...manyCommits(3));
    const workspace = await newWorkspace(remote.path);
    const client = clientOf(ada);
    const { items } = await client.listWorkspaces(client.within());
    expect(items.map(({ name }) => name)).toContain(workspace);
    expect((await client.listBranches({ workspace }, client.within())).items).toMatchObject([
      { name: 'main', raw: { head: remote.head('main'), default: true } },
    ]);
    const sync = await client.startSync({ workspace, branch: 'main' }, client.within());
    expect(sync).toMatchObject({
      status: 'queued',
      state: 'going-on',
      branch: 'main',
      sync_id: expect.stringMatching(/^sync_/),
    });
    if (sync.progress.kind !== 'offered') throw new Error(sync.progress.why);
    const { address } = sync.progress;
    await expect
      .poll(() => client.syncStatus(address, client.within()), { timeout: 30_000, interval: 20 })
      .toMatchObject({ state: 'succeeded', status: 'succeeded', head: remote.head('main'), error: undefined });
    const error = await errorOf(client.startSync({ workspace, branch: 'nowhere' }, client.within()));
    expect(error.failure).toMatchObject({ kind: 'refused', status: 422, fields: [{ field: 'branch' }] });
  });

  test('a hook is registered, and its secret is there once', async () => {
    const workspace = await newWorkspace();
    const client = clientOf(ada);
    const url = 'http://127.0.0.1:9/hook';
    const made = await client.registerHook({ workspace, url, events: ['sync.failed'] }, client.within());
    expect(made).toMatchObject({
      hook_id: expect.any(String),
      replaced: false,
      madeSecret: expect.stringMatching(/^whsec_/),
    });
    const again = await client.registerHook({ workspace, url, options: { branches: ['main'] } }, client.within());
    expect(again).toMatchObject({ hook_id: made.hook_id, replaced: true, madeSecret: undefined });
  });

  test('errors are told in its words, with the request id that is in its log', async () => {
    const client = clientOf(ada);
    const { message, requestId } = await errorOf(client.listLocks({ workspace: workspaceId('none') }, client.within()));
    expect(message).toMatch(/^\S.* \(GET \/v1\/workspaces\/none\/locks: 404 Not Found, request id req_[\w-]+\)\.$/);
    expect(service.log()).toContain(requestId);
    const sync = await errorOf(
      clientOf(grace).startSync({ workspace: await newWorkspace(), branch: 'main' }, client.within()),
    );
    expect(sync.failure).toMatchObject({ missingScope: 'sync' satisfies Scope });
    const stranger = clientOf(`wsa_${'x'.repeat(43)}`);
    expect((await errorOf(stranger.listWorkspaces(stranger.within()))).status).toBe(401);
  });

  test('two requests with one key are one lock', async () => {
    const workspace = await newWorkspace();
    const client = clientOf(ada, undefined, { clock: Date.now, sleep: undefined });
    const request = lockOn(workspace);
    const both = await Promise.all([1, 2].map(() => client.acquireLock(request, client.within())));
    const [first, second] = both.map((each) => ofKind(each, 'acquired'));
    expect(second?.lock.id).toBe(first?.lock.id);
    const later = clientOf(ada);
    const replay = await later.acquireLock({ ...request, keySentBefore: true }, later.within());
    expect(ofKind(replay, 'acquired')).toMatchObject({ replayed: true, lock: { id: first?.lock.id } });
  });
});

describe('when the answer is lost after the service has done its work', () => {
  const fates: readonly Fate[] = ['502', 'reset', 'truncated'];

  test.each(fates)('(%s) the lock is ours, once', async (fate) => {
    const workspace = await newWorkspace();
    const server = await startOtherServer(afterItsWork(service.port, fate, fate));
    const client = clientOf(ada, server.baseUrl);
    const { lock, replayed } = ofKind(await client.acquireLock(lockOn(workspace), client.within()), 'acquired');
    expect(replayed).toBe(true);
    expect(server.requests).toHaveLength(3);
    const { items } = await client.listLocks({ workspace }, client.within());
    expect(items.map(({ id }) => id)).toEqual([lock.id]);
  });

  test.each(fates)('(%s) and stays lost, it is unclear; the same key tells later', async (fate) => {
    const workspace = await newWorkspace();
    const server = await startOtherServer(afterItsWork(service.port, fate, fate));
    const client = clientOf(ada, server.baseUrl, { retries: 1 });
    const request = lockOn(workspace);
    ofKind(await client.acquireLock(request, client.within()), 'unclear');
    const later = await client.acquireLock({ ...request, keySentBefore: true }, client.within());
    expect(ofKind(later, 'acquired').replayed).toBe(true);
  });

  test.each(['502', 'reset'] as const)('(%s) a release is one, not an absence', async (fate) => {
    const workspace = await newWorkspace();
    const server = await startOtherServer(afterItsWork(service.port, 'passed-on', fate));
    const client = clientOf(ada, server.baseUrl);
    const { lock } = ofKind(await client.acquireLock(lockOn(workspace), client.within()), 'acquired');
    const release = await client.releaseLock({ workspace, path: hero, proof: lock }, client.within());
    expect(release).toEqual({ kind: 'released' });
    expect((await client.listLocks({ workspace }, client.within())).items).toEqual([]);
  });
});

test.each([
  ['refuses encoded slashes', startApacheLike],
  ['decodes them', startDecodingProxy],
])('behind a proxy that %s, locks on all kinds of paths are released', async (_, startProxy) => {
  const workspace = await newWorkspace();
  const proxy = await startProxy(service.port);
  const client = clientOf(ada, proxy.baseUrl);
  for (const name of ['a/b/c', 'a b/c#d', 'ü/%2F/x', 'a?b/c&d', 'plain']) {
    const path = lockPath(name);
    const { lock } = ofKind(await client.acquireLock(lockOn(workspace, path), client.within()), 'acquired');
    expect(await client.releaseLock({ workspace, path, proof: lock }, client.within()), name).toEqual({
      kind: 'released',
    });
    expect((await client.releaseLock({ workspace, path, proof: lock }, client.within())).kind, name).toBe('absent');
  }
  expect((await client.listLocks({ workspace }, client.within())).items).toEqual([]);
});
