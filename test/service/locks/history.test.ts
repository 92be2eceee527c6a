import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { parseTtl } from '../../../src/interface/ttl.ts';
import { removeExpiredLocks, removeOldLockHistory } from '../../../src/service/locks/history.ts';
import {
  type HistoryPosition,
  type HistoryQuery,
  type RecordedLockChange,
  readLockHistory,
} from '../../../src/service/locks/read-history.ts';
import { releaseLocks } from '../../../src/service/locks/release.ts';
import { renewLock } from '../../../src/service/locks/renew.ts';
import { removeBeyond } from '../../../src/service/storage/remove-old.ts';
import type { Database } from '../../../src/service/storage/storage.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { shippedRetention } from '../../support/shipped-settings.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { bearerOf, takeIn } from '../../support/taken-locks.ts';
import { valueIn } from '../../support/value-in.ts';
import { planOf, type RecordedQuery, recording } from '../storage/query-plan.ts';

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
  const take = (...paths: readonly string[]) => commit((db) => takeIn(db, storage, paths, terms));
  const operator = { name: 'operator', owner: null, tokenId: null, address: null, force: true };
  const ada = { name: 'ada', owner: 'ada', tokenId: 'tok_ada', address: null, force: false };
  const release = (path: string, releaser: typeof ada | typeof operator) =>
    commit((db) => releaseLocks(db, storage.now, [{ ...placeOf(path), match: null, releaser }]));
  const expire = (path: string) => changeRows(storage, 'locks', { expires_at: 5 }, { path });

  const read = (query: Partial<HistoryQuery> = {}, lookAt?: number) =>
    readLockHistory(storage, { workspace: 'game', limit: 100, ...query }, lookAt);
  const inShort = ({ kind: what, path, ended_by }: RecordedLockChange): string =>
    [what, path, ...(ended_by === null ? [] : ['by', ended_by])].join(' ');
  const told = async (query?: Partial<HistoryQuery>): Promise<readonly string[]> =>
    (await read(query)).changes.map(inShort);

  test('records each acquisition and each end, with the lock as it was, but no renewals', async () => {
    await take('a', 'b');
    await take('a');
    await release('a', { ...ada, tokenId: 'tok_other' });
    await release('a', ada);
    const renewal = { ...placeOf('b'), ttl: valueIn(parseTtl('1h')), bearer, match: () => true };
    await commit((db) => renewLock(db, storage.now, renewal));
    await release('b', operator);
    expect(await told()).toEqual(['force-released b by operator', 'released a by ada', 'acquired b', 'acquired a']);
    const [forced] = (await read()).changes;
    expect(forced).toMatchObject({ owner: 'ada', origin, note: 'Rigging', lock_id: expect.stringMatching(/^lock_/) });
  });

  test('records an expired lock at the end of its ttl, even if the next lock replaces it', async () => {
    await take('swept', 'replaced');
    await expire('replaced');
    await take('replaced');
    await expire('swept');
    await removeExpiredLocks(storage);
    const expired = (await read({ kind: 'expired' })).changes;
    expect(expired.map(({ at, path }) => [at, path])).toEqual([
      ['1970-01-01T00:00:00.005Z', 'replaced'],
      ['1970-01-01T00:00:00.005Z', 'swept'],
    ]);
    expect(await told({ path: 'replaced' })).toEqual(['acquired replaced', 'acquired replaced', 'expired replaced']);
  });

  test('is written with one statement for all locks of a batch, and rolled back with them', async () => {
    const queries: RecordedQuery[] = [];
    // A query is built once per clock object, and this is a new one.
    const clock = sql<number>`${storage.now}`;
    const paths = Array.from({ length: 300 }, (_, index) => `p/${index}`);
    await commit((db) => takeIn(recording(db, queries), { now: clock }, paths, terms));
    expect(queries.filter(({ text }) => text.startsWith('insert into "lock_history"'))).toHaveLength(1);
    expect((await read({ limit: 1_000 })).changes).toHaveLength(300);
    const undone = commit(async (db) => {
      await takeIn(db, storage, ['undone'], terms);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await told({ path: 'undone' })).toEqual([]);
  });

  test('never blocks an acquisition, even if its key is already in use', async () => {
    await take('a');
    await storage.commit('global', async (db) => {
      const fence = await db.selectFrom('fences').select('value').where('workspace_id', '=', 'game').executeTakeFirst();
      const at = sql<number>`${storage.now} + n`;
      await sql`insert into lock_history (workspace_id, at, fence, kind, path, lock_id, owner)
        with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < 2000)
        select 'game', ${at}, ${(fence?.value ?? 0) + 1}, 'acquired', 'x', 'x', 'x' from numbers`.execute(db);
    });
    expect(await take('b')).toMatchObject([{ kind: 'granted' }]);
  });

  async function allPages(query: Partial<HistoryQuery>, lookAt?: number) {
    const pages: string[][] = [];
    for (let before: HistoryPosition | undefined; ; ) {
      const { changes, next } = await read({ ...query, before }, lookAt);
      pages.push(changes.map(inShort));
      if (next === undefined) return pages;
      before = next;
    }
  }

  test('is read in pages without gaps, even with many rows in a millisecond or few matches', async () => {
    await take('x/a', 'x/b', 'y/c', 'y/d');
    for (const path of ['x/a', 'y/c']) await release(path, path === 'y/c' ? operator : ada);
    const all = await told();
    expect(all).toHaveLength(6);
    for (const limit of [1, 2, 5, 6]) expect((await allPages({ limit })).flat()).toEqual(all);
    // Each page reads two rows.
    for (const filter of [{ prefix: 'x/' }, { kind: 'acquired' }, { owner: 'nobody' }, { path: 'x/a' }]) {
      const pages = await allPages({ ...filter, limit: 2 }, 2);
      expect(pages.flat()).toEqual(await told(filter));
    }
    expect(await told({ prefix: 'x/' })).toHaveLength(3);
    expect(await told({ kind: 'acquired' })).toHaveLength(4);
    expect(await told({ owner: 'ada' })).toEqual(all);
    expect(await allPages({ owner: 'nobody' }, 2)).toEqual([[], [], [], []]);
    expect((await readLockHistory(storage, { workspace: 'film', limit: 9 })).changes).toEqual([]);
  });

  test('is read from one time until before another', async () => {
    await take('a', 'b', 'c');
    for (const [index, path] of ['a', 'b', 'c'].entries()) {
      await changeRows(storage, 'lock_history', { at: 1_000 * (index + 1) }, { path });
    }
    expect(await told({ from: 1_000, until: 3_000 })).toEqual(['acquired b', 'acquired a']);
    expect(await told({ from: 3_000 })).toEqual(['acquired c']);
  });

  test('is kept for 90 days, separately in each workspace', async () => {
    const day = 24 * 60 * 60_000;
    await take('old', 'young');
    const age = (path: string, ms: number) =>
      storage.commit('global', (db) =>
        db
          .updateTable('lock_history')
          .set({ at: sql<number>`${storage.now} - ${sql.lit(ms)}` })
          .where('path', '=', path)
          .execute(),
      );
    await age('old', 90 * day + 60_000);
    await age('young', 90 * day - 60_000);
    await removeOldLockHistory(storage, shippedRetention);
    expect(await told()).toEqual(['acquired young']);
  });

  test('is kept for the configured time', async () => {
    await take('kept-briefly');
    await changeRows(storage, 'lock_history', { at: Date.now() - 60_000 }, { path: 'kept-briefly' });
    await removeOldLockHistory(storage, { keepLockHistory: { seconds: 30 } });
    expect(await told()).not.toContain('acquired kept-briefly');
  });

  test('keeps at most the given number of newest rows in a workspace', async () => {
    const paths = Array.from({ length: 7 }, (_, index) => `p/${index}`);
    await take(...paths);
    for (const [index, path] of paths.entries()) await changeRows(storage, 'lock_history', { at: index + 1 }, { path });
    const rows = { table: 'lock_history', time: 'at', workspace: 'game' } as const;
    await removeBeyond(storage, rows, { max: 8, countedAtOnce: 2 });
    expect(await told()).toHaveLength(7);
    await removeBeyond(storage, { ...rows, workspace: 'film' }, { max: 1, countedAtOnce: 1 });
    await removeBeyond(storage, rows, { max: 4, countedAtOnce: 2 });
    expect(await told()).toEqual(['acquired p/6', 'acquired p/5', 'acquired p/4', 'acquired p/3']);
  });

  test('is read in index order, for a workspace and for a path', async () => {
    // The plan of PostgreSQL depends on the number of rows.
    if (storage.dialect === 'postgres') return;
    const plansOf = async (query: Partial<HistoryQuery>): Promise<readonly string[]> => {
      const queries: RecordedQuery[] = [];
      await readLockHistory({ read: recording(storage.read, queries) }, { workspace: 'game', limit: 9, ...query });
      return Promise.all(queries.map((each) => planOf(storage, each, {})));
    };
    const before = { at: 9, fence: 9, kind: 'acquired' };
    const ofWorkspace = 'sqlite_autoindex_lock_history_1 (workspace_id=?';
    const ofPath = 'lock_history_of_path (workspace_id=? AND path=?';
    for (const [query, index] of [
      [{}, ofWorkspace],
      [{ before, owner: 'ada' }, ofWorkspace],
      [{ from: 1, until: 9, kind: 'expired' }, ofWorkspace],
      [{ path: 'a' }, ofPath],
      [{ before, path: 'a' }, ofPath],
    ] as const) {
      for (const plan of await plansOf(query)) {
        expect(plan).toContain(index);
        expect(plan).not.toContain('TEMP B-TREE');
      }
    }
  });
});
