import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { batchQuery, insertFrom, textOf } from '../../../src/service/storage/batch-query.ts';
import { noteQueued } from '../../../src/service/storage/commit-group.ts';
import type { Database } from '../../../src/service/storage/storage.ts';
import { timeOf } from '../../../src/service/storage/timestamp.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { findRows, storeLocks } from '../../support/stored-rows.ts';

const setFence = (value: number) => (db: Database) =>
  db.updateTable('fences').set({ value }).where('workspace_id', '=', '').execute();

const insert = (name: string) => (db: Database) =>
  db.insertInto('fences').values({ workspace_id: name, value: 1 }).execute();

/** On PostgreSQL, it is sent together with the next statement. */
const insertLater = batchQuery((db, members) =>
  insertFrom(db, members, 'fences', { workspace_id: textOf('name'), value: sql.lit(1) }),
);

describe.each(databaseKinds)('storage on $name', (kind) => {
  /** The number of changes in each group, by the database that they share. */
  const groups = new Map<Database, number>();
  const count = (db: Database, changes = 1) => groups.set(db, (groups.get(db) ?? 0) + changes);
  const sizes = () => [...groups.values()];
  const calls: (readonly string[])[] = [];
  const storage = sharedStorage(kind, { workspaces: ['w'] });
  beforeEach(async () => {
    await storage.commit('global', async (db) => {
      await db.deleteFrom('fences').where('workspace_id', '<>', '').execute();
      await setFence(0)(db);
    });
    groups.clear();
    calls.length = 0;
  });

  const stored = async (): Promise<readonly string[]> =>
    (await storage.read.selectFrom('fences').select('workspace_id').orderBy('workspace_id').execute()).flatMap(
      ({ workspace_id }) => (workspace_id === '' ? [] : [workspace_id]),
    );

  test('concurrent changes share commits, and each gets its own result', async () => {
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        storage.commit('global', async (db) => {
          count(db);
          await setFence(index)(db);
          return index * 2;
        }),
      ),
    );
    expect(results).toEqual(Array.from({ length: 50 }, (_, index) => index * 2));
    expect(await findRows(storage, 'fences', { workspace_id: '' })).toMatchObject([{ value: 49 }]);
    expect(sizes().reduce((sum, changes) => sum + changes, 0)).toBe(50);
    expect(groups.size).toBeLessThan(10);
  });

  test('a change that is alone and refused by the database at its end is undone', async () => {
    const refused = storage.commit('global', async (db) => {
      await insertLater(db, [{ name: 'first' }]);
      await insertLater(db, [{ name: '' }]);
    });
    await expect(refused).rejects.toThrow(/unique/i);
    await storage.commit('global', (db) => insertLater(db, [{ name: 'next' }]));
    expect(await stored()).toEqual(['next']);
  });

  test('queries that run at the same time in a change each get their own rows', async () => {
    const selectNames = batchQuery((db, members) => db.selectFrom(members).select(textOf('name').as('name')));
    const found = await storage.commit('global', (db) =>
      Promise.all([...'abc'].map((name) => selectNames(db, [{ name }]))),
    );
    expect(found).toEqual([[{ name: 'a' }], [{ name: 'b' }], [{ name: 'c' }]]);
  });

  test.each([
    ['fails', (_db: Database): Promise<unknown> => Promise.reject(new Error('no'))],
    ['is refused by the database', (db: Database) => insert('')(db)],
    ['is refused by the database at its end', (db: Database) => insertLater(db, [{ name: '' }])],
    [
      'fails after the database has refused it',
      (db: Database) => insertLater(db, [{ name: '' }]).finally(() => Promise.reject(new Error('no'))),
    ],
  ])('a change that %s is undone alone, and the others of its group are kept', async (_, fail) => {
    const [before, failing, after] = await Promise.allSettled([
      storage.commit('global', insert('before')),
      storage.commit('global', async (db) => {
        await insert('failing')(db);
        await fail(db);
      }),
      storage.commit('global', insert('after')),
    ]);
    expect([before.status, failing.status, after.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await stored()).toEqual(['after', 'before']);
  });

  test('the clock returns the current time in milliseconds', async () => {
    const before = Date.now();
    const [first, second] = await storage.commit('global', async (db) => {
      const one = await timeOf(db);
      await new Promise((resolve) => setTimeout(resolve, 20));
      return [one, await timeOf(db)];
    });
    // PostgreSQL may run on another machine, whose clock may differ a little.
    expect(Math.abs((first ?? 0) - before)).toBeLessThan(60_000);
    expect(second).toBeGreaterThan(first ?? 0);
    expect(Number.isInteger(first)).toBe(true);
  });

  test('paths are sorted byte by byte, regardless of the language', async () => {
    const paths = ['b', 'a', 'B', 'ä', 'Z', 'a/b', 'a-b', '\u{1F600}', '\uFF5E'];
    await storeLocks(storage, ...paths.map((path) => ({ workspace_id: 'w', path })));
    const rows = await storage.read.selectFrom('locks').select('path').orderBy('path').execute();
    const byBytes = [...paths].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(rows.map(({ path }) => path)).toEqual(byBytes);
  });

  const globally = () => 'global' as const;
  const insertAll = async (db: Database, names: readonly string[]): Promise<readonly string[]> => {
    calls.push(names);
    count(db, names.length);
    for (const name of names) await insert(name)(db);
    return names.map((name) => `${name} is there`);
  };

  test('batched changes keep their order relative to a change of another kind between them', async () => {
    const insertOne = storage.batchCommits(globally, insertAll);
    const other = () =>
      storage.commit('global', async (db) => {
        count(db);
        calls.push(['another kind']);
      });
    await Promise.all([insertOne('a'), insertOne('b'), other(), insertOne('c')]);
    expect(calls).toEqual([['a', 'b'], ['another kind'], ['c']]);
    expect(sizes()).toEqual([4]);
  });

  test('a failed change of a batch is undone alone, and the others are made again one by one', async () => {
    const insertOne = storage.batchCommits(globally, insertAll);
    const [a, taken, b] = await Promise.allSettled([insertOne('a'), insertOne(''), insertOne('b')]);
    expect([a.status, taken.status, b.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(calls).toEqual([['a', '', 'b'], ['a'], [''], ['b']]);
    expect(await stored()).toEqual(['a', 'b']);
  });

  test('a batch that exceeds the limit of a transaction is split into several', async () => {
    const insertOne = storage.batchCommits(globally, insertAll);
    const names = Array.from({ length: 300 }, (_, index) => `n${String(index).padStart(3, '0')}`);
    await Promise.all(names.map(insertOne));
    expect(sizes()).toEqual([256, 44]);
    expect(await stored()).toEqual(names);
  });

  test('changes are batched per workspace, and on SQLite, which has one writer, across all of them', async () => {
    const insertOne = storage.batchCommits((name: string) => ({ workspace: name.slice(0, 1) }), insertAll);
    const names = ['a1', 'b1', 'a2', 'b2', 'a3'];
    expect(await Promise.all(names.map(insertOne))).toEqual(names.map((name) => `${name} is there`));
    const together = kind.name === 'SQLite' ? [names] : [names.filter((n) => n < 'b'), names.filter((n) => n > 'b')];
    // Either batch may run first.
    expect(calls.toSorted((one, other) => other.length - one.length)).toEqual(together);
    expect(sizes().toSorted((one, other) => other - one)).toEqual(together.map(({ length }) => length));
  });

  test('work is announced once after the commit of the changes that have queued it, and not for one that fails', async () => {
    const woken: string[] = [];
    storage.onQueued('syncs', () => woken.push('syncs'));
    storage.onQueued('deliveries', () => woken.push('deliveries'));
    async function queue(db: Database, names: readonly string[]): Promise<readonly undefined[]> {
      noteQueued(db, 'syncs');
      noteQueued(db, 'syncs');
      await insertAll(db, names);
      expect(woken).toEqual([]);
      return names.map(() => undefined);
    }
    const queueOne = storage.batchCommits(globally, queue);
    const single = storage.commit('global', (db) => queue(db, ['c']));
    await Promise.allSettled([queueOne('a'), queueOne(''), queueOne('b'), single]);
    expect(woken).toEqual(['syncs']);
    await expect(storage.commit('global', (db) => queue(db, ['']))).rejects.toThrow();
    await storage.commit('global', insert('d'));
    expect(woken).toHaveLength(1);
  });

  test('changes are committed when their promises are fulfilled, and not visible before', async () => {
    const insertOne = storage.batchCommits(globally, async (db, names: readonly string[]) => {
      await insertAll(db, names);
      return Promise.all(names.map(stored));
    });
    const seen = await Promise.all([insertOne('a'), insertOne('b')]);
    expect(seen).toEqual([[], []]);
    expect(await stored()).toEqual(['a', 'b']);
  });
});
