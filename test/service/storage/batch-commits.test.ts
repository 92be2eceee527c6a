import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database, Storage } from '../../../src/service/storage/storage.ts';
import { databaseKinds, type TestDatabase } from '../../support/databases.ts';

describe.each(databaseKinds)('changes that are made together on $name', (kind) => {
  let database: TestDatabase;
  let storage: Storage;
  const groups: number[] = [];
  const calls: (readonly string[])[] = [];

  beforeAll(async () => {
    database = await kind.open((changes) => groups.push(changes));
    storage = database.storage;
  });
  afterAll(() => database.remove());
  beforeEach(async () => {
    await storage.commit('global', (db) => db.deleteFrom('fences').where('workspace_id', '<>', '').execute());
    groups.length = 0;
    calls.length = 0;
  });

  const globally = () => 'global' as const;
  const insertAll = async (db: Database, names: readonly string[]): Promise<readonly string[]> => {
    calls.push(names);
    for (const name of names) await db.insertInto('fences').values({ workspace_id: name, value: 1 }).execute();
    return names.map((name) => `${name} is there`);
  };
  const stored = async (): Promise<readonly string[]> =>
    (
      await storage.read
        .selectFrom('fences')
        .select('workspace_id')
        .where('workspace_id', '<>', '')
        .orderBy('workspace_id')
        .execute()
    ).map(({ workspace_id }) => workspace_id);

  test('those that wait are made by one call, in their order, and each gets the result at its place', async () => {
    const insert = storage.batchCommits(globally, insertAll);
    expect(await Promise.all(['c', 'a', 'b'].map(insert))).toEqual(['c is there', 'a is there', 'b is there']);
    expect(calls).toEqual([['c', 'a', 'b']]);
    expect(groups).toEqual([3]);
  });

  test('a change of another kind that comes between them is made between them', async () => {
    const insert = storage.batchCommits(globally, insertAll);
    const other = () => storage.commit('global', async () => void calls.push(['another kind']));
    await Promise.all([insert('a'), insert('b'), other(), insert('c')]);
    expect(calls).toEqual([['a', 'b'], ['another kind'], ['c']]);
    expect(groups).toEqual([4]);
  });

  test('one that fails is undone alone: the others are made again, each by itself', async () => {
    const insert = storage.batchCommits(globally, insertAll);
    const [a, taken, b] = await Promise.allSettled([insert('a'), insert(''), insert('b')]);
    expect([a.status, taken.status, b.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(calls).toEqual([['a', '', 'b'], ['a'], [''], ['b']]);
    expect(await stored()).toEqual(['a', 'b']);
  });

  test('more than a transaction may have are made in several', async () => {
    const insert = storage.batchCommits(globally, insertAll);
    const names = Array.from({ length: 300 }, (_, index) => `n${String(index).padStart(3, '0')}`);
    await Promise.all(names.map(insert));
    expect(groups).toEqual([256, 44]);
    expect(await stored()).toEqual(names);
  });

  test('those of a workspace go together, and on SQLite, which has one writer, those of all', async () => {
    const insert = storage.batchCommits((name: string) => ({ workspace: name.slice(0, 1) }), insertAll);
    const names = ['a1', 'b1', 'a2', 'b2', 'a3'];
    expect(await Promise.all(names.map(insert))).toEqual(names.map((name) => `${name} is there`));
    const together = kind.name === 'SQLite' ? [names] : [names.filter((n) => n < 'b'), names.filter((n) => n > 'b')];
    // Side by side, either may be the first.
    expect(calls.toSorted((one, other) => other.length - one.length)).toEqual(together);
    expect(groups.toSorted((one, other) => other - one)).toEqual(together.map(({ length }) => length));
  });

  // PGlite has one connection, which the change keeps.
  test.skipIf(kind.name === 'PGlite')(
    'what was asked for is on disk when its promise is fulfilled, and nothing before',
    async () => {
      const insert = storage.batchCommits(globally, async (db, names: readonly string[]) => {
        await insertAll(db, names);
        return Promise.all(names.map(stored));
      });
      const seen = await Promise.all([insert('a'), insert('b')]);
      expect(seen).toEqual([[], []]);
      expect(await stored()).toEqual(['a', 'b']);
    },
  );
});
