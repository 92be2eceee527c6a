import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { type RawBuilder, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { realDatabaseKinds, temporaryDataFolder } from '../../support/databases.ts';
import { createRepository } from '../../support/git-repository.ts';
import { hookedService } from './hooked-service.ts';
import { patient } from './patience.ts';

const url = 'https://93.184.216.34/hooks?key=the-key-of-the-url';

describe.each(realDatabaseKinds)('an event and what it tells of, on $name', (kind) => {
  const service = hookedService(kind);

  /** Makes a statement fail that would add a second row with the same value. */
  async function whileUnique<T>(rule: RawBuilder<unknown>, work: () => Promise<T>): Promise<T> {
    const { storage } = service();
    await storage.commit('global', (db) => sql`create unique index only_once on ${rule}`.execute(db));
    try {
      return await work();
    } finally {
      await storage.commit('global', (db) => sql`drop index only_once`.execute(db));
    }
  }

  const eventsOf = async (workspace: string) => {
    const rows = await service()
      .storage.read.selectFrom('deliveries')
      .innerJoin('hooks', 'hooks.id', 'deliveries.hook_id')
      .select('event')
      .where('workspace_id', '=', workspace)
      .orderBy('sequence')
      .execute();
    return rows.map(({ event }) => JSON.parse(event).type);
  };

  const locksIn = async (workspace: string) =>
    (await service().call('GET', `/v1/workspaces/${workspace}/locks`)).body.locks.length;

  test('a lock whose answer cannot be remembered is not taken, and nobody is told of it', async () => {
    const { id, register } = await service().hooks();
    await register({ url, events: ['lock.acquired'] });
    const lock = (path: string) =>
      service().call('POST', `/v1/workspaces/${id}/locks`, {
        json: { path, type: 'exclusive', ttl: '1h' },
        headers: { 'idempotency-key': `${id} ${path}`.replaceAll(' ', '-') },
      });
    await whileUnique(sql`remembered_answers (token_id, status)`, async () => {
      const replies = [await lock('a'), await lock('b')];
      expect(replies.map(({ status }) => status)).toEqual([201, 500]);
    });
    expect([await eventsOf(id), await locksIn(id)]).toEqual([['lock.acquired'], 1]);
    expect((await lock('b')).status).toBe(201);
    expect([await eventsOf(id), await locksIn(id)]).toEqual([['lock.acquired', 'lock.acquired'], 2]);
  });

  test('a lock whose release cannot be told of stays', async () => {
    const { id, register, lock, unlock } = await service().hooks();
    await register({ url, events: ['lock.acquired', 'lock.released'] });
    const path = randomUUID();
    await whileUnique(sql`deliveries (ordering_key)`, async () => {
      expect((await lock(path)).status).toBe(201);
      expect((await unlock(path)).status).toBe(500);
    });
    expect([await eventsOf(id), await locksIn(id)]).toEqual([['lock.acquired'], 1]);
    expect((await unlock(path)).status).toBe(204);
    expect([await eventsOf(id), await locksIn(id)]).toEqual([['lock.acquired', 'lock.released'], 0]);
  });

  test('a sync whose end cannot be told of has not ended', async () => {
    const { folder, remove } = await temporaryDataFolder();
    try {
      const repository = createRepository(folder);
      repository.commit({ branch: 'main', files: { a: '1' } });
      const { id, register, sync } = await service().hooks(repository.path);
      await register({ url, events: ['sync.succeeded', 'sync.failed'] });
      const { storage, call } = service();
      const once = async () => {
        const { headers } = await sync('main');
        return async () => (await call('GET', headers.get('location') ?? '')).body.status;
      };
      const failures = () => service().log().split('background work failed').length;

      const second = await whileUnique(sql`deliveries (hook_id) where ordering_key = 'sync:main'`, async () => {
        await expect.poll(await once(), patient).toBe('succeeded');
        const before = failures();
        const status = await once();
        await expect.poll(failures, patient).toBeGreaterThan(before);
        return status;
      });
      expect([await second(), await eventsOf(id)]).toEqual(['running', ['sync.succeeded']]);
      await storage.commit('global', (db) =>
        db.updateTable('syncs').set({ lease_until: 0 }).where('workspace_id', '=', id).execute(),
      );
      await expect.poll(second, patient).toBe('succeeded');
      expect(await eventsOf(id)).toEqual(['sync.succeeded', 'sync.succeeded']);
      await rm(repository.path, { recursive: true });
    } finally {
      await remove();
    }
  });
});
