import { type RawBuilder, sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { createRepository } from '../../support/git-repository.ts';
import { nothing } from '../../support/other-servers/responses.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';
import { hookedService, idOf, verified } from './hooked-service.ts';

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

  test('sends syncs as they end', async () => {
    const { id, sync, next } = await hooked({ events: ['sync.succeeded', 'sync.failed'] }, remote);
    const outcome = async (branch: string) => {
      const location = (await sync(branch)).headers.get('location') ?? '';
      return [(await next()).said, (await service.call('GET', location)).body];
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
});
