import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { findLocks, listLocks, listOwnLocks, locksWithIds } from '../../../src/service/locks/find.ts';
import { heldLocks, type LeaseRow } from '../../../src/service/locks/lease-store.ts';
import type { Database } from '../../../src/service/storage/storage.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { storeLocks } from '../../support/stored-rows.ts';
import { planOf, type RecordedQuery, recording } from '../storage/changed-queries.ts';

const ada = { id: 'tok_desk', name: 'desk', owner: 'ada', scopes: [], workspaces: null };

const byPath = { workspace: 'game', path: 'a' };
const id = 'lock_game_a';

const lease: LeaseRow = {
  ...{ workspace_id: 'game', id: 'lease', owner: 'ada', fingerprint: null, pool: null },
  ...{ lock_ids: 'lock_game_', state: 'held', expires_at: 1 },
};

describe.each(databaseKinds)('the locks of an owner on $name', (kind) => {
  const storage = sharedStorage(kind, { workspaces: ['film', 'game'] });

  beforeAll(async () => {
    const many = Array.from({ length: 3_000 }, (_, index) => ({ path: `many/${index}`, owner: `bot ${index % 3}` }));
    const own = [
      { workspace_id: 'game', path: 'b', owner: 'ada' },
      { workspace_id: 'film', path: 'c', owner: 'ada' },
      { workspace_id: 'game', path: 'a', owner: 'ada' },
      { workspace_id: 'game', path: 'over', owner: 'ada', expires_at: 1 },
      { workspace_id: 'game', path: 'of an owner with the name of the token', owner: 'desk' },
      { workspace_id: 'game', path: 'of another case', owner: 'Ada' },
    ];
    await storeLocks(storage, ...many.map((lock) => ({ workspace_id: 'game', ...lock })), ...own);
    if (storage.dialect === 'postgres') await storage.commit('global', (db) => sql`analyze locks`.execute(db));
  });

  test('are the locks that the owner may renew, in the workspaces that the token may see', async () => {
    const placesOf = async (workspaces: readonly string[] | null) =>
      (await listOwnLocks(storage.read, { ...ada, workspaces }, 9)).map(({ workspace_id, path }) => [
        workspace_id,
        path,
      ]);
    const inGame = ['a', 'b'].map((path) => ['game', path]);
    expect(await placesOf(null)).toEqual([['film', 'c'], ...inGame]);
    expect(await placesOf(['game'])).toEqual(inGame);
    expect(await listOwnLocks(storage.read, ada, 2)).toMatchObject([{ path: 'c' }, { path: 'a' }]);
  });

  test.each<[string, (recorded: Database) => Promise<unknown>]>([
    ['locks_by_owner', (recorded) => listLocks(recorded, { workspace: 'game', owner: 'ada', limit: 9 })],
    ['locks_by_owner', (recorded) => listLocks(recorded, { workspace: 'game', owner: 'ada', after: 'a', limit: 9 })],
    ['locks_by_owner', (recorded) => listOwnLocks(recorded, ada, 9)],
    ['locks_pkey|autoindex_locks_1', (read) => findLocks(read, [byPath])],
    ['locks_by_id', (recorded) => locksWithIds(recorded, 'game', [id])],
    ['locks_by_id', (read) => heldLocks(read, lease, 1)],
  ])('are found by the index %s', async (index, find) => {
    const queries: RecordedQuery[] = [];
    await find(recording(storage.read, queries));
    expect(queries).not.toHaveLength(0);
    for (const query of queries) {
      const plan = await planOf(storage, query);
      expect(plan).toMatch(new RegExp(index));
      expect(plan).not.toMatch(/SCAN locks|Seq Scan on locks/);
    }
  });

  test('are found by their ids, each in its workspace', async () => {
    expect(await locksWithIds(storage.read, 'game', [id])).toMatchObject([{ path: 'a' }]);
    expect(await locksWithIds(storage.read, 'film', [id])).toEqual([]);
  });
});
