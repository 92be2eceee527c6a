import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { createRefusedRequests, type RefusedRequest } from '../../../src/service/locks/refused-requests.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';

describe.each(databaseKinds)('refused requests on $name', (kind) => {
  let commits = 0;
  const storage = sharedStorage(kind, { workspaces: ['game'], onCommit: () => (commits += 1) });
  beforeEach(() => storage.commit('global', (db) => db.deleteFrom('refused_lock_requests').execute()));

  /** An instance of the service with its own clock. */
  function instance(keyOfPath?: (path: string) => string) {
    let clock = 1_000;
    const waiting: RefusedRequest[] = [];
    const requests = createRefusedRequests({
      storage,
      ...(keyOfPath && { keyOfPath }),
      waiting: () => waiting,
      clock: () => clock,
    });
    return {
      ...requests,
      waiting,
      pass(seconds: number) {
        clock += seconds * 1_000;
      },
    };
  }

  const run = (number: number) => `https://ci.example.com/runs/${number}`;
  const refused = (path: string, number = 7, owner = 'ada'): RefusedRequest => ({
    workspace: 'game',
    path,
    owner,
    origin: run(number),
  });
  const place = (path: string) => ({ workspace: 'game', path });

  test('are visible to every instance by owner and run, those that wait longest first', async () => {
    const [one, other] = [instance(), instance()];
    one.note(refused('a', 1));
    one.pass(20);
    one.note(refused('a', 2));
    one.note({ ...refused('a', 2), origin: null });
    one.note(refused('b', 3));
    await one.write();
    const seen = await other.ofPath(place('a'));
    expect(seen.map(({ owner, origin }) => [owner, origin])).toEqual([
      ['ada', run(1)],
      ['ada', run(2)],
      ['ada', null],
    ]);
    const [first] = seen;
    expect(Date.parse(seen[1]?.since ?? '') - Date.parse(first?.since ?? '')).toBeCloseTo(20_000, -3);
    expect(await other.ofPath({ workspace: 'film', path: 'a' })).toEqual([]);
  });

  test('write one row every 15 seconds during many polls, and nothing after they end', async () => {
    const polled = instance();
    const before = commits;
    for (let second = 0; second < 60; second += 5) {
      for (let poll = 0; poll < 1_000; poll += 1) polled.note(refused('a'));
      await polled.write();
      polled.pass(5);
    }
    expect(commits - before).toBe(4);
    const [seen] = await polled.ofPath(place('a'));
    expect(seen).toBeDefined();
    for (let second = 0; second < 60; second += 5) {
      polled.pass(5);
      await polled.write();
    }
    // The last polls came after the previous write.
    expect(commits - before).toBe(5);
  });

  test('include waiting requests for as long as they wait', async () => {
    const one = instance();
    one.waiting.push(refused('a'));
    await one.write();
    one.pass(30);
    await one.write();
    const [seen] = await one.ofPath(place('a'));
    expect(Date.parse(seen?.last ?? '') - Date.parse(seen?.since ?? '')).toBeGreaterThanOrEqual(0);
    one.waiting.length = 0;
    const written = commits;
    one.pass(30);
    await one.write();
    expect(commits).toBe(written);
  });

  test('are shown for a minute, and start again if they return later', async () => {
    const one = instance();
    one.note(refused('a'));
    await one.write();
    const back = (ms: number) =>
      storage.commit('global', (db) =>
        db
          .updateTable('refused_lock_requests')
          .set({ first_at: sql<number>`first_at - ${sql.lit(ms)}`, last_at: sql<number>`last_at - ${sql.lit(ms)}` })
          .execute(),
      );
    await back(50_000);
    expect(await one.ofPath(place('a'))).toHaveLength(1);
    await back(20_000);
    expect(await one.ofPath(place('a'))).toEqual([]);
    one.pass(70);
    one.note(refused('a'));
    await one.write();
    const [seen] = await one.ofPath(place('a'));
    expect(seen?.since).toBe(seen?.last);
  });

  test('have bounded memory and database size for any number of requests and any length', async () => {
    const one = instance();
    const long = 'x'.repeat(1_000);
    for (let number = 0; number < 3_000; number += 1) {
      one.note({ ...refused(`${long}/${number}`), origin: run(number) + Math.random().toString().repeat(100) });
    }
    await one.write();
    const { rows } = await storage.read
      .selectFrom('refused_lock_requests')
      .select(({ fn }) => fn.countAll<number>().as('rows'))
      .executeTakeFirstOrThrow();
    expect(Number(rows)).toBe(1_000);
    one.pass(120);
    await one.write();
    one.note(refused('later'));
    await storage.commit('global', (db) => db.updateTable('refused_lock_requests').set({ last_at: 1 }).execute());
    await one.write();
    const left = await storage.read.selectFrom('refused_lock_requests').select('path').execute();
    expect(left.map(({ path }) => path.slice(0, 9))).toEqual(['later']);
  });

  test('are written later if the database does not respond', async () => {
    let isBroken = true;
    const requests = createRefusedRequests({
      storage: {
        ...storage,
        commit: (scope, change) => (isBroken ? Promise.reject(new Error('down')) : storage.commit(scope, change)),
      },
      waiting: () => [],
      clock: () => 1,
    });
    requests.note(refused('a'));
    await expect(requests.write()).rejects.toThrow('down');
    isBroken = false;
    await requests.write();
    expect(await requests.ofPath(place('a'))).toHaveLength(1);
  });

  test('count for the same lock in another spelling of its path on Windows', async () => {
    const one = instance((path) => path.toLowerCase());
    one.note(refused('A.uasset'));
    await one.write();
    expect(await one.ofPath(place('a.UASSET'))).toHaveLength(1);
  });
});
