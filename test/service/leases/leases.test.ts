import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { fileEndedLocks, removeOldLeases } from '../../../src/service/locks/lease-store.ts';
import { databaseKinds } from '../../support/databases.ts';
import type { Reply } from '../../support/running-service.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { sharedService } from '../http/shared-service.ts';
import { leasesOf } from './leases-of.ts';

describe.each(databaseKinds)('a lease, on $name', (kind) => {
  const service = sharedService(kind);

  async function leases() {
    const workspace = await service.newWorkspace();
    const as = (token: string) => leasesOf(service, workspace.id, token);
    const other = async () => as((await service.token({ owner: 'bob' })).secret);
    return { workspace, ...as(service.secret), other };
  }
  const newId = () => randomUUID();
  const pathsOf = ({ body }: Reply) => body.locks.map(({ path, state }: Record<string, string>) => `${path} ${state}`);

  test('takes all of its paths at once, and the list shows it', async () => {
    const { workspace, put } = await leases();
    const id = newId();
    const taken = await put(id, { paths: ['b', 'a'], note: 'nightly' });
    expect(taken.status).toBe(201);
    expect(taken.body).toMatchObject({ id, state: 'held' });
    expect(pathsOf(taken)).toEqual(['a held', 'b held']);
    const { body } = await workspace.list();
    expect(body.locks).toMatchObject([
      { path: 'a', lease: id, note: 'nightly', expires_at: taken.body.expires_at },
      { path: 'b', lease: id },
    ]);
  });

  test('is released as one, any number of times, and its id cannot be used again', async () => {
    const { workspace, put, get, end, renew } = await leases();
    const id = newId();
    await put(id, { paths: ['a', 'b'] });
    for (const _ of [1, 2]) {
      const ended = await end(id);
      expect([ended.status, ended.body]).toEqual([200, { released: ['a', 'b'], lost: [] }]);
    }
    expect(await workspace.paths()).toEqual([]);
    expect((await put(id, { paths: ['a', 'b'] })).body.type).toMatch(/lease-ended$/);
    expect((await renew(id)).status).toBe(410);
    expect((await get(id)).body).toMatchObject({ state: 'ended', locks: [] });
  });

  test('cannot be used again, and repeats its response, for 7 days', async () => {
    const { workspace, put, get, end, renew } = await leases();
    const ids = [newId(), newId()];
    for (const id of ids) {
      await put(id, { paths: [id] });
      await end(id);
    }
    while (await fileEndedLocks(service.storage));
    const [ended = '', held] = [ids[0], newId()];
    await put(held, { paths: ['kept'] });
    const passed = async (days: number) => {
      const at = Date.now() - days * 24 * 60 * 60_000 - 60_000;
      await changeRows(service.storage, 'leases', { expires_at: at }, { workspace_id: workspace.id });
      await changeRows(service.storage, 'lock_history', { ended_at: at }, { workspace_id: workspace.id });
      await removeOldLeases(service.storage);
    };
    await passed(6);
    expect((await end(ended)).body).toEqual({ released: [ended], lost: [] });
    for (const id of ids) expect((await put(id, { paths: [id] })).status).toBe(410);
    await passed(7);
    expect((await put(ended, { paths: [ended] })).status).toBe(201);
    // What the earlier lease released is not lost to the one that has its id now.
    expect((await renew(ended)).body).toMatchObject({ lost: [] });
    expect((await end(ended)).body).toEqual({ released: [ended], lost: [] });
    expect((await get(held)).body.state).toBe('held');
  });

  test('is forgotten earlier if too many others of its workspace ended later, but not while it holds locks', async () => {
    const [{ workspace, put, get, end }, others] = [await leases(), await leases()];
    const [held, first, second, elsewhere] = [newId(), newId(), newId(), newId()];
    await put(held, { paths: ['kept'] });
    await others.end(elsewhere);
    for (const [index, id] of [held, first, second].entries()) {
      if (id !== held) await end(id);
      const at = { expires_at: Date.now() - 10_000 + index };
      await changeRows(service.storage, 'leases', at, { workspace_id: workspace.id, id });
    }
    await removeOldLeases(service.storage, 1);
    expect((await get(held)).body.state).toBe('held');
    expect((await put(first, { paths: ['a'] })).status).toBe(201);
    expect((await put(second, { paths: ['b'] })).status).toBe(410);
    expect((await others.put(elsewhere, { paths: ['c'] })).status).toBe(410);
  });

  test('can be ended before it is requested, and then takes nothing', async () => {
    const { workspace, put, end } = await leases();
    const id = newId();
    expect((await end(id)).status).toBe(204);
    expect((await end(id)).status).toBe(204);
    expect((await put(id, { paths: ['a'] })).status).toBe(410);
    expect(await workspace.paths()).toEqual([]);
  });

  test('is not shown to, renewed for or released by another owner', async () => {
    const { put, end, other } = await leases();
    const ids = { held: newId(), waiting: newId(), ended: newId(), 'ended before it was requested': newId() };
    for (const [path, id] of Object.entries({ a: ids.held, b: ids.ended })) await put(id, { paths: [path] });
    expect((await put(ids.waiting, { paths: ['a'] }, { prefer: 'wait=0' })).body.state).toBe('waiting');
    for (const id of [ids.ended, ids['ended before it was requested']]) await end(id);
    const others = await other();
    for (const [state, id] of Object.entries(ids)) {
      const put = others.put(id, { paths: ['a'] });
      for (const reply of [await others.get(id), await others.renew(id), await others.end(id), await put]) {
        const refused = [403, expect.stringMatching(/lease-of-another-owner$/)];
        expect([reply.status, reply.body.type], state).toEqual(refused);
      }
    }
  });

  test('reports its lost locks, how they ended, and their holders', async () => {
    const { workspace, put, get, renew, end, other } = await leases();
    const id = newId();
    await put(id, { paths: ['a', 'b', 'c'] });
    await workspace.release('a');
    const admin = await other();
    const taker = newId();
    expect((await admin.put(taker, { paths: ['a'] })).status).toBe(201);
    const lost = [{ path: 'a', reason: 'released', lock: { path: 'a', lease: taker } }];
    expect((await renew(id, '2h')).body).toMatchObject({ lost });
    const seen = await get(id);
    expect(pathsOf(seen)).toEqual(['b held', 'c held', 'a lost']);
    expect((await end(id)).body).toMatchObject({ released: ['b', 'c'], lost });
  });

  test('renews all that it holds', async () => {
    const { workspace, put, renew } = await leases();
    const id = newId();
    await put(id, { paths: ['a', 'b'] });
    const renewed = await renew(id, '8h');
    expect(renewed.body.lost).toEqual([]);
    const { body } = await workspace.list();
    expect(body.locks.map((lock: { expires_at: string }) => lock.expires_at)).toEqual([
      renewed.body.expires_at,
      renewed.body.expires_at,
    ]);
  });

  test('takes as many of its paths as asked', async () => {
    const { workspace, put } = await leases();
    await workspace.take('a');
    expect(pathsOf(await put(newId(), { paths: ['a', 'b', 'c'], count: 1 }))).toEqual(['b held']);
    expect((await put(newId(), { paths: ['a', 'b', 'c'], count: 2 })).status).toBe(409);
    expect((await put(newId(), { paths: ['a', 'b', 'c'], count: 4 })).status).toBe(422);
  });
});
