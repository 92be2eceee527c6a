import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import type { Reply } from '../../support/running-service.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { locksOf, sharedService } from '../http/shared-service.ts';
import { lfsOf } from '../lfs/lfs-of.ts';
import { leasesOf } from './leases-of.ts';

const delayMs = 15_000;

describe.each(databaseKinds)('with --lock-delay, on $name', (kind) => {
  const service = sharedService(kind, { lockDelay: { seconds: delayMs / 1_000 } });

  async function workspaceOf(settings: { readonly lock_delay_ms?: number } = {}) {
    const workspace = await service.workspace(undefined, settings);
    const as = (token: string) => ({
      ...locksOf(service, workspace, token),
      leases: leasesOf(service, workspace, token),
    });
    const bob = (await service.token({ name: 'bob' })).secret;
    /** As if time had passed: the lock on the path expired this long ago, by the clock of the database. */
    const expire = (path: string, ago = 0) =>
      service.storage.commit('global', (db) =>
        db
          .updateTable('locks')
          .set({ expires_at: sql<number>`${service.storage.now} - ${sql.lit(ago)}` })
          .where('workspace_id', '=', workspace)
          .where('path', '=', path)
          .execute(),
      );
    return { id: workspace, bobsToken: bob, ada: as(service.secret), bob: as(bob), expire };
  }

  function expectClosed({ status, headers, body }: Reply): void {
    expect(status).toBe(409);
    expect(body.type).toMatch(/:locked$/);
    expect(body.lock).toBeUndefined();
    expect(body.detail).toContain(`closed until ${body.closed_until}`);
    const leftMs = Date.parse(body.closed_until) - Date.parse(headers.get('date') ?? '');
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(delayMs + 1_000);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(5);
  }

  test('the path of an expired lock is closed to all, and then open', async () => {
    const { ada, bob, expire } = await workspaceOf();
    const { fence } = (await ada.take('a')).body;
    await expire('a');
    expect((await ada.list()).body.locks).toEqual([]);
    expectClosed(await bob.take('a'));
    expectClosed(await ada.take('a'));
    await expire('a', delayMs);
    const taken = await bob.take('a');
    expect(taken.status).toBe(201);
    expect(taken.body.fence).toBeGreaterThan(fence);
  });

  test('a lease with a closed path takes nothing, waits, and gets the time when it opens', async () => {
    const { ada, bob, expire } = await workspaceOf();
    await ada.leases.put('the-lease-of-a-job', { paths: ['a', 'b'] });
    await expire('b');
    const [id, paths] = [randomUUID(), ['b', 'c']];
    const refused = await bob.leases.put(id, { paths });
    expect(refused).toMatchObject({ status: 409, body: { blocked: 1, locks: [] } });
    expect(refused.body.detail).toContain('closed until');
    const waiting = await bob.leases.put(id, { paths }, { prefer: 'wait=0' });
    expect(waiting).toMatchObject({
      status: 202,
      body: { blocked: [{ path: 'b', closed_until: expect.any(String) }] },
    });
    expect(waiting.body.blocked[0].lock).toBeUndefined();
    expect(await bob.paths()).toEqual(['a']);
    await expire('b', delayMs);
    expect((await bob.leases.put(id, { paths }, { prefer: 'wait=0' })).status).toBe(201);
  });

  test.each([
    ['released by its owner', ''],
    ['released by force', '?force=true'],
  ])('the path of a lock that was %s is open at once', async (_, query) => {
    const { ada, bob } = await workspaceOf();
    await ada.take('a');
    expect((await (query === '' ? ada : bob).release('a', {}, query)).status).toBe(204);
    expect((await bob.take('a')).status).toBe(201);
  });

  test('the paths of a lease that was ended are open at once', async () => {
    const { ada, bob } = await workspaceOf();
    await ada.leases.put('the-lease-of-a-job', { paths: ['a', 'b'] });
    await ada.leases.end('the-lease-of-a-job');
    expect((await bob.leases.put(randomUUID(), { paths: ['a', 'b'] })).status).toBe(201);
  });

  test('a lock that was renewed just before its end is held, and one that comes too late is lost', async () => {
    const { ada, bob, expire } = await workspaceOf();
    const { headers } = await ada.take('a', { ttl: '30s' });
    await ada.leases.put('the-lease-of-a-job', { paths: ['b'], ttl: '30s' });
    const match = { 'if-match': headers.get('etag') ?? '' };
    expect((await ada.take('a', { ttl: '1h', ...match })).status).toBe(200);
    expect((await ada.leases.renew('the-lease-of-a-job')).status).toBe(200);
    for (const path of ['a', 'b']) expect((await bob.take(path)).body.lock).toMatchObject({ path });
    for (const path of ['a', 'b']) await expire(path);
    expect((await ada.take('a', { ttl: '1h', ...match })).status).toBe(412);
    expect((await ada.leases.renew('the-lease-of-a-job')).status).toBe(410);
    expect((await ada.release('a', match)).status).toBe(404);
    for (const path of ['a', 'b']) expectClosed(await bob.take(path));
  });

  test('Git LFS is refused the path with the time in the message', async () => {
    const { id, ada, bobsToken, expire } = await workspaceOf();
    await ada.take('a');
    await expire('a');
    const { status, body } = await lfsOf(service, id, bobsToken).take('a');
    expect(status).toBe(409);
    expect(body.message).toContain('closed until');
  });

  test('a person who asks for a closed path is in line for it', async () => {
    const { id, ada, bobsToken, expire } = await workspaceOf();
    await ada.take('a');
    await expire('a');
    const queue = `/v1/workspaces/${id}/queue`;
    const asked = await service.ask('POST', queue, { token: bobsToken, json: { path: 'a' } });
    expect(asked).toMatchObject({ status: 201, body: { position: 1 } });
  });

  test('a client that waits until the path is free gets the response when it is open', async () => {
    const { ada } = await workspaceOf({ lock_delay_ms: 1_000 });
    const { expires_at } = (await ada.take('a', { ttl: '1s' })).body;
    const { body, headers } = await ada.list('?path=a', { headers: { prefer: 'wait=30' } });
    expect(body.locks).toEqual([]);
    expect(Date.parse(headers.get('date') ?? '') + 999).toBeGreaterThanOrEqual(Date.parse(expires_at) + 1_000);
  });

  test('a workspace may have another delay, or none', async () => {
    const { ada, bob, expire } = await workspaceOf({ lock_delay_ms: 0 });
    await ada.take('a');
    await expire('a');
    expect((await bob.take('a')).status).toBe(201);
  });

  test('a lock keeps the delay that it was taken with', async () => {
    const { id, ada, bob, expire } = await workspaceOf();
    await ada.take('a');
    await changeRows(service.storage, 'workspaces', { lock_delay_ms: 0 }, { id });
    await expire('a');
    expectClosed(await bob.take('a'));
  });

  test('the history shows that it expired, and when', async () => {
    const { id, ada, bob, expire } = await workspaceOf();
    const { body } = await ada.take('a');
    await expire('a', delayMs);
    const next = await bob.take('a');
    const ends = service.storage.read.selectFrom('lock_history').select(['kind', 'lock_id', 'ended_at']);
    const end = await ends.where('workspace_id', '=', id).executeTakeFirstOrThrow();
    expect(end).toMatchObject({ kind: 'expired', lock_id: body.id });
    expect(Date.parse(next.body.acquired_at) - end.ended_at).toBeGreaterThanOrEqual(delayMs);
  });
});
