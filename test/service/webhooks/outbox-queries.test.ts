import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { changeBacklogs } from '../../../src/service/outbox/backlog.ts';
import { endLease, renewLease } from '../../../src/service/runtime/lease.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import {
  type ClaimedDelivery,
  claimDelivery,
  dueHooks,
  settleDelivery,
} from '../../../src/service/webhooks/delivery-queue.ts';
import { listHooks } from '../../../src/service/webhooks/hook-overview.ts';
import { databaseKinds } from '../../support/databases.ts';
import { planOf, type RecordedQuery, recording } from '../storage/query-plan.ts';
import { startDeliveryWorkers } from './delivery-workers.ts';
import { acquireIn, claimNext, hookedStorage, releaseIn } from './hooked-storage.ts';

const recorded = (storage: Storage, queries: RecordedQuery[]): Storage => ({
  ...storage,
  read: recording(storage.read, queries),
  commit: (scope, change) => storage.commit(scope, (db) => change(recording(db, queries))),
  claim: (work) => storage.claim((db) => work(recording(db, queries))),
});

const url = 'https://a.example.com/';

describe.each(databaseKinds)('the queries of the outbox on $name', (kind) => {
  const { storage, hook, acquire } = hookedStorage(kind);

  /** Queries are built, and so recorded, once for each clock. */
  const withOwnQueries = () => ({ ...storage, now: sql<number>`${storage.now}` });

  test('without hooks, a lock change looks for hooks once, and writes nothing', async () => {
    const queries: RecordedQuery[] = [];
    await recorded(storage, queries).commit('global', (db) => acquireIn(db, withOwnQueries(), 'a'));
    await recorded(storage, queries).commit('global', (db) => releaseIn(db, withOwnQueries(), 'a'));
    const [one, other, ...more] = queries.filter(({ text }) => /"hooks"|"deliveries"/.test(text));
    expect([one?.text, other?.text]).toEqual([
      expect.stringMatching(/^select .* join "hooks"/),
      expect.stringMatching(/^select .* join "hooks"/),
    ]);
    expect(more).toEqual([]);
    // Headers may be long.
    expect(one?.text).not.toMatch(/\*|headers/);
  });

  test('without hooks, events cause no query for deliveries', async () => {
    const queries: RecordedQuery[] = [];
    startDeliveryWorkers({ ...storage, read: recording(storage.read, queries) }, { pollMs: 3_600_000 });
    await expect.poll(() => queries.length).toBe(1);
    for (const path of ['a', 'b']) await acquire(path);
    await hook('https://receiver.example.com/');
    expect(queries).toHaveLength(1);

    await acquire('c');
    await expect.poll(() => queries.length).toBeGreaterThan(1);
  });

  test('a search for due deliveries looks only at hooks with waiting deliveries', async () => {
    const id = await hook(url);
    await acquire('a');
    await storage.commit('global', async (db) => {
      await sql`insert into hooks (id, url, workspace_id, events, format, secret, headers, active, created_at, updated_at)
        with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < 4999)
        select 'hook_' || n, 'https://example.com/' || n, workspace_id, events, format, secret, headers, active,
          created_at, updated_at from hooks, numbers where id = ${id}`.execute(db);
      if (storage.dialect === 'postgres') await sql`analyze`.execute(db);
    });
    const queries: RecordedQuery[] = [];
    expect(await dueHooks(recorded(storage, queries))).toMatchObject([{ id }]);
    for (const query of queries) expect(await planOf(storage, query, {})).not.toMatch(/(SCAN|Seq Scan on) hooks\b/);
  });

  test('no query of the delivery work scans all deliveries', async () => {
    const alive = await hook(url);
    const dead = await hook('https://dead.example.com/');
    const { now } = storage;
    await storage.commit('global', async (db) => {
      // Some thousand are due, postponed, or waiting for others.
      for (let thousand = 1; thousand <= 6; thousand += 1) {
        const key = thousand === 1 ? sql`'lock:one'` : sql`${sql.lit(`lock:${thousand}/`)} || n`;
        const columns = {
          hook_id: dead,
          event: '{}',
          attempts: 0,
          next_attempt_at: thousand === 1 ? null : thousand === 3 ? 8_000_000_000_000 : 0,
          created_at: 0,
        };
        const names = Object.keys(columns).map((name) => sql.ref(name));
        const values = Object.values(columns).map((value) => sql.lit(value));
        await sql`insert into deliveries (id, ordering_key, ${sql.join(names)})
          with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < 999)
          select ${sql.lit(`msg_${thousand}_`)} || n, ${key}, ${sql.join(values)} from numbers`.execute(db);
      }
      await changeBacklogs(db, now, [{ hookId: dead, added: 6_000, dropped: 0 }]);
      if (storage.dialect === 'postgres') await sql`analyze`.execute(db);
    });

    const queries: RecordedQuery[] = [];
    const watched = recorded(storage, queries);
    await watched.commit('global', (db) => acquireIn(db, storage, 'a'));
    await watched.commit('global', (db) => releaseIn(db, storage, 'a'));
    const claim = async (claiming = claimNext(watched)): Promise<ClaimedDelivery> => {
      const claimed = await claiming;
      if (claimed === undefined) throw new Error('There is nothing to claim.');
      return claimed;
    };
    const settle = (claimed: ClaimedDelivery, kind: 'delivered' | 'retry' | 'gone') =>
      watched.commit('global', (db) => settleDelivery(db, now, claimed, { kind, reason: '', afterMs: 0 }));
    expect(await settle(await claim(claimDelivery(watched, alive)), 'delivered')).toBe(true);
    expect(await settle(await claim(claimDelivery(watched, alive)), 'retry')).toBe(true);
    const ofTheDead = await claim();
    expect(await renewLease(watched, 'deliveries', ofTheDead)).toBe(true);
    await endLease(watched, 'deliveries', ofTheDead);
    expect(await listHooks(watched.read, 'game')).toHaveLength(2);
    expect(await settle(await claim(), 'gone')).toBe(true);

    // Most may be deliveries of a webhook that is gone.
    const ofAll = /^delete from "deliveries" where "hook_id" = \S+$/;
    const aboutDeliveries = queries.filter(({ text }) => text.includes('deliveries') && !ofAll.test(text));
    expect(aboutDeliveries.length).toBeGreaterThan(15);
    for (const query of aboutDeliveries) {
      const plan = await planOf(storage, query, { id: 'msg_new', hookId: dead, orderingKey: 'lock:one' });
      expect(plan, query.text).not.toMatch(/SCAN deliveries|Seq Scan on deliveries/);
      // The clock must be a bound of the index, not a filter after it.
      if (/next_attempt_at <=/.test(query.text)) {
        expect(plan, query.text).toMatch(/next_deliveries.*next_attempt_at<|Index Cond: .*next_attempt_at <=/);
      }
    }
  });
});
