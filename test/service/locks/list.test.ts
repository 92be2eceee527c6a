import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { findCommittedLockById, findLocks } from '../../../src/service/locks/find.ts';
import { listLocks, listOwnLocks } from '../../../src/service/locks/list.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { storeLocks } from '../../support/stored-rows.ts';
import { planOf, type RecordedQuery, recording } from '../storage/query-plan.ts';

const ada = { id: 'tok_desk', name: 'desk', owner: 'ada', scopes: [], workspaces: null };

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

  test('are those that the owner may renew, in the workspaces that the token may see', async () => {
    const placesOf = async (workspaces: readonly string[] | null) =>
      (await listOwnLocks(storage, { ...ada, workspaces }, 9)).locks.map(({ workspace_id, path }) => [
        workspace_id,
        path,
      ]);
    const inGame = ['a', 'b'].map((path) => ['game', path]);
    expect(await placesOf(null)).toEqual([['film', 'c'], ...inGame]);
    expect(await placesOf(['game'])).toEqual(inGame);
    expect(await listOwnLocks(storage, ada, 2)).toMatchObject({ locks: [{ path: 'c' }, { path: 'a' }], all: 3 });
  });

  test('are found by an index, of their owner, their id or their path in any case', async () => {
    const queries: RecordedQuery[] = [];
    // A query is built once per clock object, and this is a new one.
    const recorded = { ...storage, now: sql<number>`${storage.now}`, read: recording(storage.read, queries) };
    await listLocks(recorded, { workspace: 'game', owner: 'ada', limit: 9 });
    await listLocks(recorded, { workspace: 'game', owner: 'ada', after: ['a', 'a'], limit: 9 });
    await listOwnLocks(recorded, ada, 9);
    const byPath = { workspace: 'game', path: 'A', foldedPath: 'a' };
    await findLocks(recorded.read, recorded.now, [byPath]);
    const found = { workspace: 'game', id: 'lock_game_a' };
    expect(await findCommittedLockById(recorded, found)).toMatchObject({ path: 'a', isActive: true });
    expect(await findCommittedLockById(storage, { ...found, workspace: 'film' })).toBeUndefined();
    const plans = await Promise.all(queries.map((query) => planOf(storage, query, { ...byPath, ...found })));
    // A part of a union is recorded as well.
    const inAnyCase = ['locks_by_folded_path', 'locks_by_folded_path'];
    const indexes = ['locks_by_owner', 'locks_by_owner', 'locks_by_owner', ...inAnyCase, 'locks_by_id'];
    expect(plans).toEqual(indexes.map((index) => expect.stringContaining(index)));
    for (const plan of plans) expect(plan).not.toMatch(/SCAN locks|Seq Scan on locks/);
  });
});
