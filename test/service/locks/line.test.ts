import { beforeEach, describe, expect, test } from 'vitest';
import { keptFor, lookAgainMs, selectAfterOthers } from '../../../src/service/locks/kept-paths.ts';
import { countWaiting, listQueue, placeInLine } from '../../../src/service/locks/queue.ts';
import { joinLine, removeOldWaits } from '../../../src/service/locks/waits.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { changeRows, findRows, storeLocks } from '../../support/stored-rows.ts';
import { waitRequest } from '../../support/waits.ts';
import { type RecordedQuery, recording, withClockOf } from '../storage/changed-queries.ts';

describe.each(databaseKinds)('a place in line, on $name', (kind) => {
  const workspace = 'game';
  const storage = sharedStorage(kind, { workspaces: [workspace] });
  beforeEach(() => storage.commit('global', (db) => db.deleteFrom('waits').execute()));

  /** In one transaction, because the order of transactions within a millisecond is open. */
  const join = (...ids: readonly string[]) =>
    storage.commit({ workspace }, (db) =>
      joinLine(
        db,
        ids.map((id) => waitRequest(id)),
      ),
    );

  test('is assigned first come, first served, and kept for a minute after the last request', async () => {
    const queue = async () => (await listQueue(storage.read, { workspace, path: 'a' })).map(({ owner }) => owner);
    await join('b', 'c', 'a');
    expect(await queue()).toEqual(['b', 'c', 'a']);
    const askedAgo = (ms: number) => ({ present_until: Date.now() - ms });
    await changeRows(storage, 'waits', askedAgo(55_000), { owner: 'b' });
    await removeOldWaits(storage);
    await join('b');
    expect(await queue()).toEqual(['b', 'c', 'a']);
    await changeRows(storage, 'waits', askedAgo(61_000), { owner: 'b' });
    await join('b');
    expect(await queue()).toEqual(['c', 'a', 'b']);
  });

  test('is behind that of a request in the same millisecond, also for a set of paths', async () => {
    const ids = ['c', 'a', 'b'];
    for (const id of ids) {
      const wait = waitRequest(id, { paths: ['shared', id] });
      await storage.commit({ workspace }, (db) =>
        joinLine(
          withClockOf(db, () => '1000'),
          [wait],
        ),
      );
    }
    const ranks = await Promise.all(ids.map(async (id) => (await findRows(storage, 'waits', { id }))[0]?.rank));
    expect(ranks).toEqual([1_000_000, 1_000_001, 1_000_002]);
    await changeRows(storage, 'waits', { present_until: Date.now() + 60_000 });
    const ahead = await Promise.all(ids.map((waitId) => selectAfterOthers(storage.read, [{ workspace, waitId }])));
    expect(ahead.map(([own]) => own?.before)).toEqual([undefined, 1_000_001, 1_000_002]);
  });

  test('is removed in batches, so that other changes do not wait for all paths of abandoned requests', async () => {
    await join(...'abcdefg');
    await changeRows(storage, 'waits', { present_until: 1, size: 400 });
    const removed: number[] = [];
    const counting: typeof storage = {
      ...storage,
      async commit(scope, change) {
        expect(scope).toMatchObject({ workspace });
        const rows = async () => (await storage.read.selectFrom('wait_paths').select('path').execute()).length;
        const before = await rows();
        const result = await storage.commit(scope, change);
        removed.push(before - (await rows()));
        return result;
      },
    };
    await removeOldWaits(counting);
    expect(removed).toEqual([2, 2, 2, 1]);
  });

  test('is counted with one query for all locks of a page', async () => {
    const row = { workspace_id: workspace, owner: 'ada' };
    await storeLocks(storage, { ...row, path: 'a' }, { ...row, path: 'b' }, { ...row, path: 'c' });
    const waits = [waitRequest('1', { paths: ['a', 'b'] }), waitRequest('2')];
    await storage.commit({ workspace }, (db) => joinLine(db, waits));
    const locks = await storage.read.selectFrom('locks').selectAll().orderBy('path').execute();
    const queries: RecordedQuery[] = [];
    const counts = await countWaiting(recording(storage.read, queries), locks);
    const counted = Object.fromEntries(locks.map(({ path, id }) => [path, counts.get(id)]));
    expect([counted, queries.length]).toEqual([{ a: 2, b: 1, c: 0 }, 1]);
  });

  test('is returned to all who ask at the same time with one query, counted among the waits for each path that they want', async () => {
    const waits = ['first', 'away', 'set', 'last'].map((id) =>
      waitRequest(id, { paths: id === 'set' ? [...'12345xy'] : [id === 'first' ? 'x' : 'y'] }),
    );
    await storage.commit({ workspace }, (db) => joinLine(db, waits));
    await changeRows(storage, 'waits', { present_until: Date.now() - 1_000 }, { id: 'away' });
    const queries: RecordedQuery[] = [];
    const asked = recording(storage.read, queries);
    const places = await Promise.all(
      [...waits.map(({ waitId }) => waitId), 'unknown'].map((id) => placeInLine(asked, id)),
    );
    const told = places.map(({ position, length }) => `${position} of ${length}`);
    expect([told, queries.length]).toEqual([['1 of 2', '1 of 3', '2 of 3', '2 of 2', '1 of 0'], 1]);
  });

  test.each([1, 41])(
    'is sorted once for all clients that ask at the same time, if they want %i paths',
    async (wanted) => {
      const items = Array.from({ length: 40 }, (_, n) => `item ${n}`);
      const waits = Array.from({ length: 300 }, (_, n) =>
        waitRequest(`w${n}`, { paths: [...items, `own ${n}`], wanted }),
      );
      await storage.commit({ workspace }, (db) => joinLine(db, waits));
      let looks = 0;
      const counted = <Row extends object>(row: Row) =>
        new Proxy(row, {
          get(target, name) {
            looks += 1;
            return Reflect.get(target, name);
          },
        });
      const read = storage.read.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => ({ ...result, rows: result.rows.map(counted) }),
      });
      const places = await Promise.all(waits.map(({ waitId }) => placeInLine(read, waitId)));
      expect(places).toEqual(waits.map((_, n) => ({ position: n + 1, length: 300 })));
      expect(looks).toBeLessThan(300 * 200);
    },
  );

  test('is listed for the first 1,000 requests', async () => {
    const waits = Array.from({ length: 1_001 }, (_, n) => waitRequest(`w${n}`, { paths: ['b'] }));
    await storage.commit({ workspace }, (db) => joinLine(db, waits));
    const queue = await listQueue(storage.read, { workspace, path: 'b' });
    expect(queue).toHaveLength(1_000);
    expect(queue.at(-1)).toMatchObject({ path: 'b', owner: 'w999', position: 1_000 });
  });

  test('is found for paths that many leases want, without a look at all paths of each', async () => {
    const paths = Array.from({ length: 2_000 }, (_, n) => `large/${n}`);
    const ids = Array.from({ length: 30 }, (_, n) => `large ${n}`);
    const waits = ids.map((id) => waitRequest(id, { paths }));
    for (const wait of waits) await storage.commit({ workspace }, (db) => joinLine(db, [wait]));
    const keys = paths.map((path) => ({ workspace, path }));
    let rows = 0;
    const read = storage.read.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        rows += result.rows.length;
        return result;
      },
    });
    const kept = await keptFor(read, keys);
    expect(new Set(kept.map((next) => next?.id))).toEqual(new Set(['large 0']));
    expect(rows).toBeLessThan(3 * paths.length);
    rows = 0;
    const [own] = await selectAfterOthers(read, [{ workspace, waitId: 'large 1' }]);
    const ahead = await keptFor(
      read,
      keys.map((key) => ({ ...key, before: own?.before })),
    );
    expect(new Set(ahead.map((next) => next?.id))).toEqual(new Set(['large 0']));
    expect(await selectAfterOthers(read, [{ workspace, waitId: 'large 0' }])).toEqual([]);
  }, 60_000);

  test('is found for paths that many different leases want, with few queries', async () => {
    const pathOf = (n: number) => `shared/${n % 300}`;
    const waits = Array.from({ length: 200 }, (_, n) =>
      waitRequest(`set ${n}`, { paths: [0, 1, 2, 3, 4].map((each) => pathOf(n * 7 + each * 31)) }),
    );
    await storage.commit({ workspace }, (db) => joinLine(db, waits));
    const queries: RecordedQuery[] = [];
    const keys = Array.from({ length: 300 }, (_, n) => ({ workspace, path: pathOf(n) }));
    const kept = await keptFor(recording(storage.read, queries), keys);
    expect(kept.filter((next) => next !== undefined).length).toBeGreaterThan(150);
    expect(queries.length).toBeLessThan(60);
  });

  test('is listed with its priority: each level counts as five minutes of waiting', async () => {
    const waits = ([5, 3, 1] as const).map((urgency) => waitRequest(`u${urgency}`, { urgency, paths: ['p'] }));
    await storage.commit({ workspace }, (db) => joinLine(db, waits));
    const priorities = async () =>
      (await listQueue(storage.read, { workspace, path: 'p' })).map(({ priority }) => priority);
    expect(await priorities()).toEqual(['high', 'normal', 'low']);
    const ranks = await Promise.all(
      waits.map(async ({ waitId: id }) => (await findRows(storage, 'waits', { id }))[0]?.rank ?? 0),
    );
    expect(ranks.map((rank) => Math.round((rank - Math.min(...ranks)) / 60_000_000))).toEqual([20, 10, 0]);
  });
});

test('others look again when a client may have left, and soon at the latest, but leave a person the complete time', () => {
  const lookAfter = (kind: 'request' | 'ask' | 'kept', presentMs: number) => lookAgainMs({ kind, presentMs });
  expect([10_000, 100, 0].map((presentMs) => lookAfter('request', presentMs))).toEqual([300, 100, 1]);
  expect([lookAfter('kept', 600_000), lookAfter('ask', 600_000)]).toEqual([600_000, 300]);
});
