import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseTtl } from '../../../src/interface/duration.ts';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { releaseLocks, renewLocks } from '../../../src/service/locks/change-lock.ts';
import {
  type HistoryPosition,
  type HistoryQuery,
  type RecordedLockPeriod,
  readLockHistory,
  removeExpiredLocks,
  removeOldLockHistory,
} from '../../../src/service/locks/history.ts';
import { removeBeyond } from '../../../src/service/storage/remove-old.ts';
import type { Database } from '../../../src/service/storage/storage.ts';
import { now } from '../../../src/service/storage/timestamp.ts';
import type { Bearer } from '../../../src/service/tokens/tokens.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { valueIn } from '../../support/value-in.ts';
import { planOf, type RecordedQuery, recording } from '../storage/changed-queries.ts';
import { bearerOf, takeIn } from './taken-locks.ts';

describe.each(databaseKinds)('the history of locks on $name', (kind) => {
  const storage = sharedStorage(kind, { workspaces: ['game', 'film'] });
  beforeEach(() =>
    storage.commit('global', async (db) => {
      await db.deleteFrom('locks').execute();
      await db.deleteFrom('lock_history').execute();
    }),
  );

  const bearer = bearerOf('ada');
  const origin = 'https://ci.example.com/runs/7';
  const placeOf = (path: string) => ({ workspace: 'game', path: valueIn(parseLockPath(path)) });
  const terms = { bearer, origin, note: 'Rigging' };
  const commit = <T>(change: (db: Database) => Promise<T>) => storage.commit({ workspace: 'game' }, change);
  const take = (...paths: readonly string[]) => commit((db) => takeIn(db, paths, terms));
  const operator: Bearer = { ...bearerOf('operator'), scopes: ['locks:admin'] };
  const release = (path: string, by: Bearer) => {
    const actor = { name: by.name, tokenId: by.id, address: null };
    return commit((db) => releaseLocks(db, [{ ...placeOf(path), match: () => true, bearer: by, actor, force: true }]));
  };
  const expire = (path: string) => changeRows(storage, 'locks', { expires_at: 5 }, { path });

  const read = (query: Partial<HistoryQuery> = {}) =>
    readLockHistory(storage.read, { workspace: 'game', limit: 100, ...query });
  const inShort = ({ kind: how, path, ended_by }: RecordedLockPeriod): string =>
    [how, path, ...(ended_by === null ? [] : ['by', ended_by])].join(' ');
  const told = async (query?: Partial<HistoryQuery>): Promise<readonly string[]> =>
    (await read(query)).periods.map(inShort);
  /** Stores ended locks, one each millisecond. */
  const storeEnded = (...paths: readonly string[]) =>
    storage.commit('global', (db) =>
      db
        .insertInto('lock_history')
        .values(
          paths.map((path, index) => ({
            ...{ workspace_id: 'game', path, lock_id: `lock_${path}`, owner: 'ada', ended_by: 'ada' },
            ...{ acquired_at: 0, ended_at: index + 1, fence: index + 1 },
          })),
        )
        .execute(),
    );

  test('has one entry for each lock: its holder and note, and how it ended', async () => {
    await take('a', 'b');
    await take('a');
    await release('a', { ...bearer, id: 'tok_other' });
    await release('a', bearer);
    const renewal = { ...placeOf('b'), ttl: valueIn(parseTtl('1h')), bearer, match: () => true };
    await commit((db) => renewLocks(db, [renewal]));
    await release('b', operator);
    expect(await told()).toEqual(['force-released b by operator', 'released a by ada']);
    const [forced] = (await read()).periods;
    expect(forced).toMatchObject({ owner: 'ada', origin, note: 'Rigging', lock_id: expect.stringMatching(/^lock_/) });
    expect(Date.parse(forced?.ended_at ?? '')).toBeGreaterThanOrEqual(Date.parse(forced?.acquired_at ?? ''));
  });

  test('has an expired lock at the end of its ttl, even if the next lock replaces it', async () => {
    await take('swept', 'replaced');
    await expire('replaced');
    await take('replaced');
    await expire('swept');
    await removeExpiredLocks(storage);
    const { periods } = await read();
    expect(periods.map(({ ended_at, path }) => [ended_at, path])).toEqual([
      ['1970-01-01T00:00:00.005Z', 'replaced'],
      ['1970-01-01T00:00:00.005Z', 'swept'],
    ]);
    expect(await told({ path: 'replaced' })).toEqual(['expired replaced']);
  });

  test('never blocks a release, even if its key is already in use', async () => {
    await take('a');
    await storage.commit('global', async (db) => {
      const fence = await db.selectFrom('fences').select('value').where('workspace_id', '=', 'game').executeTakeFirst();
      const at = sql<number>`${now} + n`;
      await sql`insert into lock_history (workspace_id, ended_at, fence, path, lock_id, owner, acquired_at)
        with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < 2000)
        select 'game', ${at}, ${fence?.value ?? 0}, 'x', 'x', 'x', 0 from numbers`.execute(db);
    });
    expect(await release('a', bearer)).toMatchObject([{ kind: 'released' }]);
  });

  async function allPages(query: Partial<HistoryQuery>) {
    const pages: string[][] = [];
    for (let before: HistoryPosition | undefined; ; ) {
      const { periods, next } = await read({ ...query, before });
      pages.push(periods.map(inShort));
      if (next === undefined) return pages;
      before = next;
    }
  }

  test('is read in pages without gaps, even with many rows in a millisecond', async () => {
    const paths = ['x/a', 'y/c', 'x/b', 'y/d', 'z/e', 'z/f'];
    await take(...paths);
    for (const path of paths) await release(path, path === 'y/c' ? operator : bearer);
    const all = await told();
    expect(all).toHaveLength(6);
    for (const limit of [1, 2, 5, 6]) expect((await allPages({ limit })).flat()).toEqual(all);
    expect(await told({ path: 'x/a' })).toEqual(['released x/a by ada']);
    expect((await readLockHistory(storage.read, { workspace: 'film', limit: 9 })).periods).toEqual([]);
  });

  test('is kept for 90 days after the end', async () => {
    const keptMs = 90 * 24 * 60 * 60_000;
    await storeEnded('old', 'young');
    const age = (path: string, ms: number) =>
      changeRows(storage, 'lock_history', { ended_at: Date.now() - ms }, { path });
    await age('old', keptMs + 60_000);
    await age('young', keptMs - 60_000);
    await removeOldLockHistory(storage);
    expect(await told()).toEqual(['released young by ada']);
  });

  test('keeps at most the given number of newest rows in a workspace', async () => {
    await storeEnded(...Array.from({ length: 7 }, (_, index) => `p/${index}`));
    const rows = { table: 'lock_history', time: 'ended_at', workspace: 'game' } as const;
    await removeBeyond(storage, rows, 8);
    expect(await told()).toHaveLength(7);
    await removeBeyond(storage, { ...rows, workspace: 'film' }, 1);
    await removeBeyond(storage, rows, 4);
    expect(await told()).toEqual([6, 5, 4, 3].map((index) => `released p/${index} by ada`));
  });

  test('is read in index order, for a workspace and for a path', async () => {
    // The plan of PostgreSQL depends on the number of rows.
    if (storage.dialect === 'postgres') return;
    const plansOf = async (query: Partial<HistoryQuery>): Promise<readonly string[]> => {
      const queries: RecordedQuery[] = [];
      await readLockHistory(recording(storage.read, queries), { workspace: 'game', limit: 9, ...query });
      return Promise.all(queries.map((each) => planOf(storage, each)));
    };
    const before = { endedAt: 9, fence: 9 };
    const ofWorkspace = 'sqlite_autoindex_lock_history_1 (workspace_id=?';
    for (const [query, index] of [
      [{ before }, ofWorkspace],
      [{}, ofWorkspace],
      [{ before, path: 'a' }, 'lock_history_of_path (workspace_id=? AND path=?'],
    ] as const) {
      for (const plan of await plansOf(query)) {
        expect(plan).toContain(index);
        // The table of locks that are about to come into the history is mostly empty.
        expect(plan).not.toMatch(/(?<!SCAN ended_locks\nUSE )TEMP B-TREE FOR ORDER BY|SCAN lock_history/);
      }
    }
  });
});
