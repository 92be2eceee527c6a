import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findCommittedLockById } from '../../../src/service/locks/find.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { databaseKinds, type TestDatabase } from '../../support/databases.ts';
import { grantedLock, takeIn } from '../../support/taken-locks.ts';
import { planOf, type RecordedQuery, recording } from '../storage/query-plan.ts';

describe.each(databaseKinds)('a lookup of a lock by its id on $name', (kind) => {
  let database: TestDatabase;
  let storage: Storage;
  let id: string;

  beforeAll(async () => {
    database = await kind.open();
    storage = database.storage;
    const paths = Array.from({ length: 2_000 }, (_, index) => `many/${index}`);
    await storage.commit('global', async (db) => {
      await addWorkspace(db, storage.now, { id: 'game', remote: 'https://git.example.com/r.git' });
      id = grantedLock((await takeIn(db, storage, paths))[7]).id;
    });
    if (storage.dialect === 'postgres') await storage.commit('global', (db) => sql`analyze locks`.execute(db));
  });
  afterAll(() => database.remove());

  test('finds only that lock', async () => {
    expect(await findCommittedLockById(storage, { workspace: 'game', id })).toMatchObject({
      path: 'many/7',
      isActive: true,
    });
    expect(await findCommittedLockById(storage, { workspace: 'film', id })).toBeUndefined();
    expect(await findCommittedLockById(storage, { workspace: 'game', id: 'lock_none' })).toBeUndefined();
  });

  test('uses an index, and reads no other locks', async () => {
    const queries: RecordedQuery[] = [];
    // A query is built once per clock object, and this is a new one.
    const recorded = { ...storage, now: sql<number>`${storage.now}`, read: recording(storage.read, queries) };
    await findCommittedLockById(recorded, { workspace: 'game', id });
    expect(queries).toHaveLength(1);
    for (const query of queries)
      expect(await planOf(storage, query, { workspace: 'game', id })).toContain('locks_by_id');
  });
});
