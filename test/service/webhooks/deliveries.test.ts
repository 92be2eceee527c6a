import { type RawBuilder, sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { newWebhookSecret } from '../../../src/service/webhooks/signature.ts';
import { databaseKinds } from '../../support/databases.ts';
import { createRepository } from '../../support/git-repository.ts';
import { nothing } from '../../support/other-servers/responses.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';
import { hookedService, idOf, patient, verified } from './hooked-service.ts';

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe.each(databaseKinds)('deliveries on $name', (kind) => {
  const service = hookedService(kind);
  const folder = folderOfTests();
  let remote: string;
  const heads = new Map<string, string>();

  // Created in advance, because creating a repository blocks this process.
  beforeAll(async () => {
    const repository = createRepository(folder);
    repository.commit({ branch: 'main', files: { a: '1' } }, { branch: 'art/änderung', files: { b: '2' } });
    for (const branch of ['main', 'art/änderung']) heads.set(branch, repository.head(branch));
    remote = repository.path;
  });

  /** A workspace with one webhook, whose secret was given or generated. */
  async function hooked(registration: Readonly<Record<string, unknown>>, remoteOfWorkspace?: string) {
    const workspace = await service.hooks(remoteOfWorkspace);
    const receiver = await service.receiver();
    const { body } = await workspace.register({ url: receiver.url('/hook?key=the-key-of-the-url'), ...registration });
    const secret: string = body.secret;
    const next = async () => {
      const delivery = await receiver.nextDelivery();
      return { ...delivery, said: verified(secret, delivery) };
    };
    return { ...workspace, receiver, secret, next };
  }

  test('sends locks as they are acquired and released, signed with the generated secret', async () => {
    const { id, lock, unlock, next } = await hooked({ events: ['lock.acquired', 'lock.released', 'lock.expired'] });
    const { body: taken } = await lock('art/hero.psd');
    const acquired = await next();
    expect([acquired.method, acquired.url]).toEqual(['POST', '/hook?key=the-key-of-the-url']);
    expect(acquired.said).toEqual({
      type: 'lock.acquired',
      timestamp: taken.acquired_at,
      data: { workspace: id, lock: taken },
    });
    await unlock('art/hero.psd');
    const released = await next();
    expect(released.said).toEqual({
      type: 'lock.released',
      timestamp,
      data: { workspace: id, lock: taken, released_by: 'ada', forced: false },
    });
    expect(idOf(released)).not.toBe(idOf(acquired));

    await lock('a');
    await next();
    const admin = (await service.token({ name: 'grace', scopes: ['locks:admin'] })).secret;
    await service.call('DELETE', `/v1/workspaces/${id}/locks/a?force=true`, { token: admin });
    expect((await next()).said).toMatchObject({ data: { released_by: 'grace', forced: true } });
  });

  test('sends the expiry of a lock with its time', async () => {
    const { id, lock, next } = await hooked({ events: ['lock.expired'] });
    const { body: taken } = await lock('a', '1s');
    expect((await next()).said).toEqual({
      type: 'lock.expired',
      timestamp: taken.expires_at,
      data: { workspace: id, lock: taken },
    });
    expect((await lock('a')).status).toBe(201);
  });

  test('sends syncs as they end, limited to the branches of the hook', async () => {
    const { id, register, sync, next: nextOfAll } = await hooked({ events: ['sync.succeeded', 'sync.failed'] }, remote);
    const [main, secret] = [await service.receiver(), newWebhookSecret()];
    await register({ url: main.url(), branches: ['main'], secret });
    const outcome = async (branch: string) => {
      const location = (await sync(branch)).headers.get('location') ?? '';
      return [(await nextOfAll()).said, (await service.call('GET', location)).body];
    };
    const [art, artSync] = await outcome('art/änderung');
    expect(artSync).toMatchObject({ status: 'succeeded', head: heads.get('art/änderung') });
    expect(art).toEqual({
      type: 'sync.succeeded',
      timestamp: artSync.finished_at,
      data: { workspace: id, sync: artSync, triggered_by: 'ada' },
    });
    const [told, mainSync] = await outcome('main');
    expect(told).toMatchObject({ type: 'sync.succeeded', data: { sync: mainSync } });
    expect(verified(secret, await main.nextDelivery())).toEqual(told);
    expect(main.deliveries).toHaveLength(1);
  });

  test('sends a failed sync with its error', async () => {
    const { sync, next } = await hooked({ events: ['sync.failed'] }, `${folder}/nothing-here.git`);
    const { sync_id } = (await sync('main')).body;
    const failed = { sync_id, branch: 'main', status: 'failed', head: null, error: expect.any(String) };
    expect((await next()).said).toMatchObject({ type: 'sync.failed', data: { sync: failed } });
  });

  /** Makes any statement fail that would add a second row with the same value. */
  async function whileUnique<T>(rule: RawBuilder<unknown>, work: () => Promise<T>): Promise<T> {
    const { storage } = service;
    await storage.commit('global', (db) => sql`create unique index only_once on ${rule}`.execute(db));
    try {
      return await work();
    } finally {
      await storage.commit('global', (db) => sql`drop index only_once`.execute(db));
    }
  }

  const eventsOf = async (workspace: string) => {
    const rows = await service.storage.read
      .selectFrom('deliveries')
      .innerJoin('hooks', 'hooks.id', 'deliveries.hook_id')
      .select('event')
      .where('workspace_id', '=', workspace)
      .orderBy('sequence')
      .execute();
    return rows.map(({ event }) => JSON.parse(event).type);
  };

  test('rolls back a lock and its event if the response cannot be remembered', async () => {
    const { id, receiver } = await hooked({ events: ['lock.acquired'] });
    receiver.behave(nothing(500));
    const lock = (path: string) =>
      service.call('POST', `/v1/workspaces/${id}/locks`, {
        json: { path, type: 'exclusive', ttl: '1h' },
        headers: { 'idempotency-key': `${id}-${path}` },
      });
    const locked = async () => (await service.call('GET', `/v1/workspaces/${id}/locks`)).body.locks.length;
    await whileUnique(sql`remembered_answers (token_id)`, async () => {
      const replies = [await lock('a'), await lock('b')];
      expect(replies.map(({ status }) => status)).toEqual([201, 500]);
    });
    expect([await eventsOf(id), await locked()]).toEqual([['lock.acquired'], 1]);
    expect((await lock('b')).status).toBe(201);
    expect([await eventsOf(id), await locked()]).toEqual([['lock.acquired', 'lock.acquired'], 2]);
  });

  test('does not end a sync if its event cannot be recorded', async () => {
    const { id, sync, receiver } = await hooked({ events: ['sync.succeeded', 'sync.failed'] }, remote);
    receiver.behave(nothing(500));
    const { storage, call, log } = service;
    const begin = async () => {
      const location = (await sync('main')).headers.get('location') ?? '';
      return async () => (await call('GET', location)).body.status;
    };
    const failures = () => log().split('background work failed').length;
    const second = await whileUnique(sql`deliveries (hook_id) where ordering_key = 'sync:main'`, async () => {
      await expect.poll(await begin(), patient).toBe('succeeded');
      const before = failures();
      const status = await begin();
      await expect.poll(failures, patient).toBeGreaterThan(before);
      return status;
    });
    expect([await second(), await eventsOf(id)]).toEqual(['running', ['sync.succeeded']]);
    await changeRows(storage, 'syncs', { lease_until: 0 }, { workspace_id: id });
    await expect.poll(second, patient).toBe('succeeded');
    expect(await eventsOf(id)).toEqual(['sync.succeeded', 'sync.succeeded']);
  });
});
