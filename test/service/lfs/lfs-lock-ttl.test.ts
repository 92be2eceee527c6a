import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { now } from '../../../src/service/storage/timestamp.ts';
import { databaseKinds } from '../../support/databases.ts';
import { changeRows, findRows } from '../../support/stored-rows.ts';
import { locksOf, sharedService } from '../http/shared-service.ts';
import { lfsOf } from './lfs-of.ts';

const day = 86_400_000;

describe.each(databaseKinds)('the ttl of Git LFS locks on $name', (kind) => {
  const service = sharedService(kind, { allowedNetworks: ['127.0.0.0/8'] });

  async function desks(desk_ttl: string | null = null) {
    const workspace = await service.workspace(undefined, { desk_ttl });
    const { storage } = service;
    async function ownerOf(owner: string, name = owner) {
      const { id, secret } = await service.token({ name, owner, scopes: ['locks:write'] });
      return { id, lfs: lfsOf(service, workspace, secret), api: locksOf(service, workspace, secret) };
    }
    return {
      workspace,
      ownerOf,
      ada: await ownerOf('ada'),
      bob: await ownerOf('bob'),
      /** Lets time pass for all locks of the workspace. */
      pass: (ms: number) =>
        changeRows(storage, 'locks', { expires_at: sql`expires_at - ${ms}` }, { workspace_id: workspace }),
      /** The remaining days by path, rounded. */
      async left(): Promise<Readonly<Record<string, number>>> {
        const rows = await storage.read
          .selectFrom('locks')
          .select(['path', sql<number>`expires_at - ${now}`.as('left')])
          .where('workspace_id', '=', workspace)
          .execute();
        return Object.fromEntries(rows.map(({ path, left }) => [path, Math.round((10 * Number(left)) / day) / 10]));
      },
    };
  }

  test.each([
    [null, 7],
    ['1d', 1],
    ['720h', 30],
    ['set by a later version', 7],
  ])('with the LFS ttl %s, a lock lasts %s days, and as long again after its owner verifies', async (ttl, days) => {
    const { ada, pass, left } = await desks(ttl);
    await ada.lfs.take('a');
    expect(await left()).toEqual({ a: days });
    await pass(0.5 * days * day);
    expect(await left()).toEqual({ a: days / 2 });
    await ada.lfs.verify();
    expect(await left()).toEqual({ a: days });
  });

  test('verifying renews only Git LFS locks of the owner, not locks of jobs or of other owners', async () => {
    const { ada, bob, pass, left } = await desks();
    await ada.lfs.take('desk');
    await ada.api.take('job', { ttl: '6d' });
    await bob.lfs.take('another');
    await pass(3 * day);
    expect((await ada.lfs.verify()).body.ours).toHaveLength(2);
    expect(await left()).toEqual({ desk: 7, job: 3, another: 4 });
  });

  test('neither verifying while more than 90% remain nor listing renews locks', async () => {
    const { ada, pass, left } = await desks('10d');
    for (const path of ['a', 'b']) await ada.lfs.take(path);
    await pass(0.9 * day);
    await ada.lfs.verify();
    expect(await left()).toEqual({ a: 9.1, b: 9.1 });
    await pass(0.2 * day);
    await ada.lfs.list();
    expect(await left()).toEqual({ a: 8.9, b: 8.9 });
    await ada.lfs.verify();
    expect(await left()).toEqual({ a: 10, b: 10 });
  });

  test('each page of a verification renews its own locks', async () => {
    const { ada, pass, left } = await desks();
    for (const path of ['a', 'b', 'c']) await ada.lfs.take(path);
    await pass(3 * day);
    const { body } = await ada.lfs.verify({ limit: 2 });
    expect(await left()).toEqual({ a: 7, b: 7, c: 4 });
    await ada.lfs.verify({ limit: 2, cursor: body.next_cursor });
    expect(await left()).toEqual({ a: 7, b: 7, c: 7 });
  });

  test('a shorter LFS ttl does not shorten existing locks', async () => {
    const { ada, left, workspace } = await desks('30d');
    await ada.lfs.take('a');
    await changeRows(service.storage, 'workspaces', { desk_ttl: '1d' }, { id: workspace });
    await ada.lfs.verify();
    expect(await left()).toEqual({ a: 30 });
  });

  test('an expired lock is not renewed: it ends with its event, and its path is free', async () => {
    const { ada, bob, pass, workspace } = await desks();
    const json = { url: 'http://127.0.0.1:9/hook', events: ['lock.expired'] };
    const hook = await service.ask('POST', `/v1/workspaces/${workspace}/hooks`, { token: service.secret, json });
    expect(hook.status).toBe(201);
    await ada.lfs.take('a');
    await pass(7 * day);
    expect((await ada.lfs.verify()).body).toEqual({ ours: [], theirs: [] });
    expect((await bob.lfs.take('a')).status).toBe(201);
    expect(await findRows(service.storage, 'deliveries', { hook_id: hook.body.id })).toMatchObject([
      { event: expect.stringContaining('"lock.expired"') },
    ]);
  });
});
