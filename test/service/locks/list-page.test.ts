import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { type LockQuery, listLocks, listOwnLocks, maxSearched } from '../../../src/service/locks/find.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { storeLocks } from '../../support/stored-rows.ts';
import { planOf, type RecordedQuery, recording } from '../storage/changed-queries.ts';

const later = Date.now() + 3_600_000;
const many = 12_000;
const first: Omit<LockQuery, 'workspace'> = {
  words: [],
  after: undefined,
  limit: 2,
};

describe.each(databaseKinds)('a page of locks on $name', (kind) => {
  const storage = sharedStorage(kind, { workspaces: ['small', 'game'] });

  beforeAll(async () => {
    const small = { workspace_id: 'small', owner: 'bob' };
    const rows = Array.from({ length: many }, (_, index) => ({
      workspace_id: 'game',
      path: `many/${String(index).padStart(5, '0')}`,
      id: `lock_${String(index).padStart(5, '0')}`,
      owner: `bot ${index % 3}`,
      expires_at: later + index,
    }));
    await storeLocks(
      storage,
      { ...small, path: 'b/1', id: '1', owner: 'ada', expires_at: later + 9 },
      { ...small, path: 'a/2', id: '3', origin: 'https://x.example/2', expires_at: later + 7 },
      { ...small, path: 'c', id: '2', note: 'Hull_100%', expires_at: later + 7 },
      { ...small, path: 'over', id: '4', expires_at: 1 },
    );
    for (let from = 0; from < many; from += 1_000) await storeLocks(storage, ...rows.slice(from, from + 1_000));
    if (storage.dialect === 'postgres') await storage.commit('global', (db) => sql`analyze locks`.execute(db));
  });

  /** The paths of all pages. */
  async function pathsOf(query: Partial<LockQuery>): Promise<readonly (readonly string[])[]> {
    const pages: string[][] = [];
    for (let after: LockQuery['after']; ; ) {
      const { locks, next } = await listLocks(storage.read, { ...first, workspace: 'small', ...query, after });
      pages.push(locks.map(({ path }) => path));
      if (next === undefined) return pages;
      after = next;
    }
  }

  test.each([
    [['BOB'], ['a/2', 'c']],
    [['example/2', 'A/'], ['a/2']],
    [['a/2', 'ada'], []],
    [['bob', 'l_1', '0%'], ['c']],
    [['_'], ['c']],
  ])('has the locks with all of the words %j in path, holder, note or run', async (words, paths) => {
    expect(await pathsOf({ words })).toEqual([paths]);
  });

  test('continues the search where the previous page ended', async () => {
    const last = `many/${many - 1}`;
    const pages = await pathsOf({ workspace: 'game', words: [last] });
    expect(pages).toEqual([...Array.from({ length: many / maxSearched - 1 }, () => []), [last], []]);
  });

  test('reads a limited number of rows, in the order of an index', async () => {
    const queries: RecordedQuery[] = [];
    const recorded = recording(storage.read, queries);
    // PostgreSQL would sort these 12,000 locks for a search, as it costs it less than the index.
    for (const more of storage.dialect === 'sqlite' ? [{}, { words: ['nothing'] }] : [{}]) {
      const { next } = await listLocks(recorded, { ...first, workspace: 'game', ...more });
      await listLocks(recorded, { ...first, workspace: 'game', ...more, after: next });
    }
    await listOwnLocks(recorded, { id: 't', name: 't', owner: 'bot 1', scopes: [], workspaces: null }, 9);
    expect(queries.length).toBeGreaterThan(2);
    for (const query of queries) {
      expect(query.text).toMatch(/limit/);
      const plan = await planOf(storage, query);
      expect(plan).not.toMatch(/SCAN locks\b|TEMP B-TREE FOR ORDER BY|Sort Key:/);
    }
  });
});
