import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { readLockHistory } from '../../../src/service/locks/history.ts';
import { databaseKinds } from '../../support/databases.ts';
import { createRepository } from '../../support/git-repository.ts';
import type { Reply } from '../../support/running-service.ts';
import { storePool, updateStoredPool } from '../../support/stored-pool.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';
import { expectInvalid, expectProblem } from '../http/expect-problem.ts';
import { locksOf, sharedService, untilWaiting } from '../http/shared-service.ts';
import { leasesOf } from './leases-of.ts';

const newId = () => randomUUID();
const pathsIn = ({ body }: Reply): string[] => body.locks.map(({ path }: { path: string }) => path);

describe.each(databaseKinds)('leases follow the rules of locks, on $name', (kind) => {
  const quotas = { maxLocks: 30_000, maxLocksPerOwner: 3 };
  const service = sharedService(kind, { quotas, allowedNetworks: ['127.0.0.0/8'] });
  const folder = folderOfTests();
  let bob: string;
  beforeAll(async () => {
    bob = (await service.token({ owner: 'bob', scopes: ['locks:write'] })).secret;
  });

  async function newWorkspace() {
    const workspace = await service.newWorkspace();
    return { ...workspace, ...leasesOf(service, workspace.id, service.secret) };
  }

  test('quotas: too many locks are refused as a whole', async () => {
    const { paths, put, end } = await newWorkspace();
    const first = newId();
    expect((await put(first, { paths: ['a', 'b'] })).status).toBe(201);
    expectProblem(await put(newId(), { paths: ['c', 'd'] }), 'quota-exceeded');
    expect(await paths()).toEqual(['a', 'b']);
    await end(first);
    await expect.poll(async () => (await put(newId(), { paths: ['c', 'd', 'e'] })).status).toBe(201);
  });

  test('history and events: each lock is acquired, released, forced and expired as on its own', async () => {
    const { id: workspace, put, get, end, release } = await newWorkspace();
    const { storage } = service;
    const hook = { url: 'http://127.0.0.1:9/hook', events: ['lock.acquired', 'lock.released', 'lock.expired'] };
    await service.ask('POST', `/v1/workspaces/${workspace}/hooks`, { token: service.secret, json: hook });
    const admin = (await service.token({ owner: 'root', scopes: ['locks:admin'] })).secret;
    const lease = newId();
    await put(lease, { paths: ['a', 'b', 'c'], note: 'nightly' });
    await locksOf(service, workspace, admin).release('a', {}, '?force=true');
    await changeRows(storage, 'locks', { expires_at: 1 }, { workspace_id: workspace, path: 'b' });
    const lost = [
      { path: 'a', reason: 'forced' },
      { path: 'b', reason: 'expired' },
    ];
    expect((await get(lease)).body.locks).toMatchObject([{ path: 'c', state: 'held' }, ...lost]);
    expect((await put(lease, { paths: ['a', 'b', 'c'], note: 'nightly' })).body.locks).toHaveLength(3);
    expect((await release('b')).status).toBe(404);
    expect((await end(lease)).body).toMatchObject({ released: ['c'], lost });
    const told = async () => {
      const { periods } = await readLockHistory(storage.read, { workspace, limit: 20 });
      return periods.map(({ kind, path, ended_by }) => `${kind} ${path} ${ended_by}`).toSorted();
    };
    const ends = ['expired b null', 'force-released a root', 'released c ada'];
    await expect.poll(told).toEqual(ends);
    const hooks = storage.read.selectFrom('hooks').select('id').where('workspace_id', '=', workspace);
    const events = async () => {
      const rows = await storage.read.selectFrom('deliveries').selectAll().where('hook_id', 'in', hooks).execute();
      return rows.map(({ event }) => JSON.parse(event).type).toSorted();
    };
    await expect
      .poll(events, { timeout: 10_000 })
      .toEqual(['lock.acquired', 'lock.acquired', 'lock.acquired', 'lock.expired', 'lock.released', 'lock.released']);
  });

  test('pools: a lease takes the items with these properties, and its owner alone sees their secrets', async () => {
    const { id: workspace, put, get, end, release } = await newWorkspace();
    const { storage } = service;
    const words = ['s/1', 'secret:serial=A,host=b1', 's/2', 'secret:serial=B,host=b2', 's/3', 'host=b2'];
    await storePool(storage, workspace, 'seats', ...words);
    const lease = newId();
    const taken = await put(lease, { pool: 'seats', where: { host: 'b2' }, count: 2 });
    expect(taken.body.locks).toMatchObject([
      { path: 's/2', properties: { host: 'b2', serial: 'B' } },
      { path: 's/3', properties: { host: 'b2' } },
    ]);
    expect((await get(lease)).body).toEqual(taken.body);
    const others = leasesOf(service, workspace, bob);
    const refused = await others.put(newId(), { pool: 'seats', where: { host: 'b2' } });
    const waiting = await others.put(newId(), { pool: 'seats', where: { host: 'b2' } }, { prefer: 'wait=0' });
    for (const reply of [refused, waiting, await others.get(lease)]) expect(reply.text).not.toContain('serial');
    await release('s/2');
    expect((await get(lease)).text).not.toContain('serial');
    expect((await end(lease)).text).not.toContain('serial');
    expectInvalid(await put(newId(), { pool: 'seats', where: { serial: 'A' } }), '#/where');
    expectInvalid(await put(newId(), { pool: 'seats', where: { host: 'b1' }, count: 2 }), '#/count');
  });

  test('pools: a repeated request gets its lease, although no item has the properties any more', async () => {
    const { id: workspace, put, end } = await newWorkspace();
    const { storage } = service;
    await storePool(storage, workspace, 'seats', 's/1', 'host=b1');
    const lease = newId();
    const wanted = { pool: 'seats', where: { host: 'b1' } };
    expect((await put(lease, wanted)).status).toBe(201);
    await updateStoredPool(storage, workspace, 'seats', 's/2', 'host=b2');
    const again = await put(lease, wanted);
    expect([again.status, pathsIn(again)]).toEqual([200, ['s/1']]);
    await end(lease);
    expect((await put(lease, wanted)).status).toBe(410);
  });

  test('pools: a waiting lease wants the current items', async () => {
    const { id: workspace, take, release, put } = await newWorkspace();
    const { storage } = service;
    await storePool(storage, workspace, 'seats', 's/1');
    for (const path of ['s/1', 's/2']) await take(path);
    const lease = newId();
    const waiting = put(lease, { pool: 'seats' }, { prefer: 'wait=30' });
    await untilWaiting(service, service.secret, 1);
    await updateStoredPool(storage, workspace, 'seats', 's/2');
    await release('s/1');
    const others = locksOf(service, workspace, bob);
    await expect.poll(async () => (await others.take('s/1')).status).toBe(201);
    await release('s/2');
    expect(pathsIn(await waiting)).toEqual(['s/2']);
  });

  test('outdated files: the lease is refused or warned about, also when its response was lost', async () => {
    const repository = createRepository(folder);
    repository.commit(
      { branch: 'main', files: { a: '1', b: '1' } },
      { branch: 'feature', from: 'main', files: { c: '1' } },
      { branch: 'main', files: { b: '2' } },
    );
    for (const latest of ['refuse', 'warn'] as const) {
      const workspace = await service.workspace(`file://${repository.path}`, { latest });
      const { put } = leasesOf(service, workspace, service.secret);
      const lease = newId();
      const ask = (paths = ['a', 'b'], more = {}) => put(lease, { paths, ...more }, { 'lock-branch': 'feature' });
      const outdated = [{ path: 'b', branch: 'main' }];
      const first = await ask();
      expect([first.status, first.body.outdated]).toMatchObject([latest === 'refuse' ? 409 : 201, outdated]);
      if (latest === 'refuse') {
        expectProblem(first, 'outdated');
        expect(pathsIn(await ask(['a', 'b'], { count: 1 }))).toEqual(['a']);
      } else {
        expect((await ask()).body).toEqual(first.body);
      }
    }
  });
});

describe.each(databaseKinds)('a large lease, on $name', (kind) => {
  const service = sharedService(kind);
  const all = Array.from({ length: 20_000 }, (_, index) => `Content/Maps/Level-${index}.umap`).sort();

  test('is taken, renewed and released as one with 20,000 paths', async () => {
    const { id, paths } = await service.newWorkspace();
    const { put, get, renew, end } = leasesOf(service, id, service.secret);
    const lease = newId();
    expect(pathsIn(await put(lease, { paths: all }))).toEqual(all);
    expect((await get(lease)).body.locks).toHaveLength(all.length);
    expect((await renew(lease)).body.lost).toEqual([]);
    expect((await end(lease)).body.released).toEqual(all);
    expect(await paths()).toEqual([]);
  });

  test('is refused with the limit beyond 20,000 paths or 8 MiB', async () => {
    const { id } = await service.newWorkspace();
    const { put } = leasesOf(service, id, service.secret);
    const tooMany = await put(newId(), { paths: [...all, 'one-more'] });
    expectInvalid(tooMany, '#/paths');
    expect(tooMany.body.detail).toContain('at most 20000 paths');
    const tooLong = await service.ask('PUT', `/v1/workspaces/${id}/leases/${newId()}`, {
      ...{ token: service.secret, raw: ' ' },
      headers: { 'content-type': 'application/json', 'content-length': String(8 * 1024 * 1024 + 1) },
    });
    expect(expectProblem(tooLong, 'body-too-large').detail).toContain('8388608 bytes');
  });
});
