import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { acquireSchema } from '../../../src/service/lfs/requests.ts';
import { databaseKinds } from '../../support/databases.ts';
import { findRows } from '../../support/stored-rows.ts';
import { locksOf, sharedService } from '../http/shared-service.ts';
import { expectLfsError, lfsMediaType, lfsOf, pathsOf } from './lfs-of.ts';

const run = 'https://github.com/studio/game/actions/runs/42/attempts/1';

test('a lock is requested for the branch of the request, and any other ref counts as none', () => {
  const refs = [
    { name: 'refs/heads/art/ü' },
    { name: 'main' },
    { name: 'refs/heads/a..b' },
    { name: 7 },
    'x',
    undefined,
  ];
  const branches = refs.map((ref) => acquireSchema.parse({ path: 'a', ref }).ref);
  expect(branches).toEqual(['art/ü', 'main', undefined, undefined, undefined, undefined]);
});

describe.each(databaseKinds)('locks over Git LFS on $name', (kind) => {
  const service = sharedService(kind);

  async function ownerIn(workspace: string, name: string, owner = name) {
    const token = await service.token({ name, owner, scopes: ['locks:write'] });
    return { ...token, lfs: lfsOf(service, workspace, token.secret), api: locksOf(service, workspace, token.secret) };
  }
  async function twoOwners() {
    const workspace = await service.workspace();
    return { workspace, ada: await ownerIn(workspace, 'ada'), bob: await ownerIn(workspace, 'bob') };
  }

  test('a lock taken over Git LFS appears in the API, with its owner, its fence and its expiry', async () => {
    const { ada, bob } = await twoOwners();
    const taken = await ada.lfs.take('Content/Hero.uasset');
    expect([taken.status, taken.headers.get('content-type')]).toEqual([201, lfsMediaType]);
    expect(taken.body).toEqual({
      lock: {
        id: expect.stringMatching(/^lock_[\w-]+$/),
        path: 'Content/Hero.uasset',
        locked_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        owner: { name: 'ada' },
      },
    });
    const [lock] = (await bob.api.list()).body.locks;
    expect(lock).toMatchObject({ id: taken.body.lock.id, owner: 'ada', type: 'exclusive', origin: null });
    expect(Date.parse(lock.expires_at) - Date.parse(lock.acquired_at)).toBe(7 * 86_400_000);
    expect((await bob.api.take('Content/Hero.uasset')).status).toBe(409);
    expect((await ada.api.release('Content/Hero.uasset')).status).toBe(204);
    expect((await ada.lfs.list()).body).toEqual({ locks: [] });
  });

  test('a lock of a job blocks Git LFS users, and the message names its holder, times and run', async () => {
    const { ada, bob } = await twoOwners();
    const { body: job } = await bob.api.take('a/b.uasset', { referer: run });
    const refused = await ada.lfs.take('a/b.uasset');
    const message = expectLfsError(refused, 409);
    for (const part of ['a/b.uasset', 'bob', run, job.acquired_at, job.expires_at]) expect(message).toContain(part);
    expect(refused.body.lock).toEqual({
      id: job.id,
      path: job.path,
      locked_at: job.acquired_at,
      owner: { name: 'bob' },
    });
  });

  test('the list has the locks of all owners, by path or by id, and is never null', async () => {
    const { ada, bob } = await twoOwners();
    expect((await ada.lfs.list()).body).toEqual({ locks: [] });
    const { lock } = (await ada.lfs.take('a')).body;
    await bob.api.take('b c/\u00fc');
    expect(pathsOf((await bob.lfs.list('?refspec=refs%2Fheads%2Fmain')).body.locks)).toEqual(['a', 'b c/\u00fc']);
    expect(pathsOf((await bob.lfs.list('?path=b%20c%2F%C3%BC')).body.locks)).toEqual(['b c/\u00fc']);
    expect((await bob.lfs.list(`?id=${lock.id}`)).body).toEqual({ locks: [lock] });
    for (const query of ['?path=none', '?id=lock_none', '?id=%00', `?id=${lock.id}&path=other`]) {
      expect((await bob.lfs.list(query)).body).toEqual({ locks: [] });
    }
  });

  test('a list continues at its cursor, in pages of limited size', async () => {
    const { ada } = await twoOwners();
    for (const path of ['a', 'b', 'c', 'd', 'e']) await ada.lfs.take(path);
    const pages: (readonly string[])[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const { body } = await ada.lfs.list(`?limit=2&cursor=${cursor}`);
      pages.push(pathsOf(body.locks));
      cursor = body.next_cursor;
    }
    expect(pages).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    for (const limit of ['0', '-1', '999999999']) {
      expect((await ada.lfs.list(`?limit=${limit}`)).body.locks).toHaveLength(5);
    }
  });

  test('all tokens of an owner share its locks, and other tokens with the same name do not', async () => {
    const workspace = await service.workspace();
    const [desk, laptop] = [await ownerIn(workspace, 'desk', 'ada'), await ownerIn(workspace, 'laptop', 'ada')];
    const other = await ownerIn(workspace, 'desk', 'bob');
    const { lock } = (await desk.lfs.take('a')).body;
    expect(lock.owner).toEqual({ name: 'ada' });
    expect((await laptop.lfs.verify()).body).toEqual({ ours: [lock], theirs: [] });
    expect((await other.lfs.verify()).body).toEqual({ ours: [], theirs: [lock] });
    expectLfsError(await other.lfs.release(lock.id), 403);
    expect((await laptop.lfs.release(lock.id)).body).toEqual({ lock });
    expect(await findRows(service.storage, 'audit', { actor: 'laptop' })).toEqual([]);
  });

  test('releasing the lock of another owner requires force and locks:admin, and is audited', async () => {
    const { workspace, ada, bob } = await twoOwners();
    const { lock } = (await ada.lfs.take('a')).body;
    for (const [json, word] of [
      [{}, '--force'],
      [{ force: false }, '--force'],
      [{ force: true }, 'locks:admin'],
    ] as const) {
      const refused = await bob.lfs.release(lock.id, json);
      const message = expectLfsError(refused, 403);
      for (const part of ['ada', 'until', word, lock.locked_at]) {
        expect(message).toContain(part);
      }
    }
    expect((await ada.lfs.release(lock.id)).body).toEqual({ lock });
    expectLfsError(await ada.lfs.release(lock.id), 404);

    const { secret } = await service.token({ name: 'root', scopes: ['locks:admin'] });
    const again = (await ada.lfs.take('a')).body.lock;
    const forced = await lfsOf(service, workspace, secret).release(again.id, { force: true });
    expect([forced.status, forced.body]).toEqual([200, { lock: again }]);
    const audit = await findRows(service.storage, 'audit', { actor: 'root' });
    expect(audit).toMatchObject([{ action: 'lock.force-released' }]);
    expect(audit[0]?.detail).toContain(again.id);
  });

  test('the id of a released lock does not release its successor', async () => {
    const { ada } = await twoOwners();
    const { lock } = (await ada.lfs.take('a')).body;
    await ada.lfs.release(lock.id);
    await ada.lfs.take('a');
    for (const id of [lock.id, 'lock_none', '1', '%00', 'a%2Fb', 'x'.repeat(5_000)]) {
      expectLfsError(await ada.lfs.release(id), 404);
    }
    expect((await ada.lfs.list()).body.locks).toHaveLength(1);
  });

  test('a lock that replaces another one during its release stays', async () => {
    const { workspace, ada } = await twoOwners();
    const { lock } = (await ada.lfs.take('a')).body;
    const gate = Promise.withResolvers<void>();
    const exchanged = service.storage.commit({ workspace }, async (db) => {
      await gate.promise;
      await db.updateTable('locks').set({ id: 'lock_2' }).where('id', '=', lock.id).execute();
    });
    const released = ada.lfs.release(lock.id);
    // The release finds the lock, and waits for the other change. This moment is not visible from outside.
    await setTimeout(200);
    gate.resolve();
    await exchanged;
    expectLfsError(await released, 404);
    expect((await ada.lfs.list()).body.locks).toMatchObject([{ id: 'lock_2' }]);
  });

  test('the id of a lock in another workspace neither finds nor releases it', async () => {
    const [{ ada }, { ada: elsewhere }] = [await twoOwners(), await twoOwners()];
    const { lock } = (await ada.lfs.take('a')).body;
    const root = lfsOf(service, elsewhere.lfs.address.split('/')[3] ?? '', service.secret);
    expect((await root.list(`?id=${lock.id}`)).body).toEqual({ locks: [] });
    expectLfsError(await root.release(lock.id, { force: true }), 404);
    expect((await ada.lfs.list()).body.locks).toEqual([lock]);
  });

  test('a client that waits for a path is counted in refusals, and gets the path when it is released over Git LFS', async () => {
    const { ada, bob } = await twoOwners();
    const { lock } = (await ada.lfs.take('a')).body;
    const waiting = bob.api.take('a', { prefer: 'wait=30' });
    const message = async () => expectLfsError(await ada.lfs.take('a'), 409);
    await expect.poll(message, { timeout: 20_000 }).toContain('. Waiting for it: 1.');
    await ada.lfs.release(lock.id);
    expect((await waiting).status).toBe(201);
  });

  test('the other endpoints of the service do not accept a token as a password', async () => {
    const { workspace, ada } = await twoOwners();
    const headers = { authorization: `Basic ${btoa(`ada:${ada.secret}`)}` };
    expect((await service.ask('GET', `/v1/workspaces/${workspace}/locks`, { headers })).status).toBe(401);
  });
});
