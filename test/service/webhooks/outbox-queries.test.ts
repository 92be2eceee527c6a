import { type KyselyPlugin, type RootOperationNode, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { endLease, renewLease } from '../../../src/service/runtime/lease.ts';
import type { Database, Storage } from '../../../src/service/storage/storage.ts';
import { findDelivery, listDeliveries } from '../../../src/service/webhooks/delivery-list.ts';
import {
  type ClaimedDelivery,
  removeOldDeliveries,
  settleDelivery,
} from '../../../src/service/webhooks/delivery-queue.ts';
import { findHookOverview } from '../../../src/service/webhooks/hook-overview.ts';
import { findHook } from '../../../src/service/webhooks/hooks.ts';
import { pauseHook } from '../../../src/service/webhooks/pause-hook.ts';
import { sendAgain } from '../../../src/service/webhooks/send-again.ts';
import { databaseKinds } from '../../support/databases.ts';
import { claimNext } from './claim-next.ts';
import { acquireIn, actor, hookedStorage, made, releaseIn } from './hooked-storage.ts';

interface Recorded {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

/** What a database is asked, in the words it is asked in. */
function recording(queries: Recorded[]): (db: Database) => Database {
  return (db) => {
    const plugin: KyselyPlugin = {
      transformQuery({ node, queryId }): RootOperationNode {
        const { sql: text, parameters } = db.getExecutor().compileQuery(node, queryId);
        queries.push({ text, parameters });
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    return db.withPlugin(plugin);
  };
}

function recorded(storage: Storage, queries: Recorded[]): Storage {
  const record = recording(queries);
  return {
    ...storage,
    read: record(storage.read),
    commit: (scope, change) => storage.commit(scope, (db) => change(record(db))),
    claim: (work) => storage.claim((db) => work(record(db))),
  };
}

const url = 'https://a.example.com/';

describe.each(databaseKinds)('the queries of the outbox on $name', (kind) => {
  const hooked = hookedStorage(kind);

  test('where there is no hook, a change of a lock asks for hooks once, and writes nothing', async () => {
    const { storage } = hooked();
    const queries: Recorded[] = [];
    await recorded(storage, queries).commit('global', (db) => acquireIn(db, storage, 'a'));
    await recorded(storage, queries).commit('global', (db) => releaseIn(db, storage, 'a'));
    const [one, other, ...more] = queries.filter(({ text }) => /"hooks"|"deliveries"/.test(text));
    expect([one?.text, other?.text]).toEqual([
      expect.stringMatching(/^select .* from "hooks"/),
      expect.stringMatching(/^select .* from "hooks"/),
    ]);
    expect(more).toEqual([]);
  });

  /** What stands for a list in a query about many, and for its length: see batch-query.ts. */
  const listed = new Map<unknown, unknown>([
    ['(list)', '{"0":{"id":"msg_new","hookId":"dead","orderingKey":"lock:one"}}'],
    ['(length)', 1],
  ]);

  /** How the database finds the rows of a query, in its own words. */
  async function planOf({ storage }: { storage: Storage }, { text, parameters }: Recorded): Promise<string> {
    const pieces = storage.dialect === 'sqlite' ? text.split('?') : text.split(/\$\d+/);
    // No query has a question mark or a dollar sign but for its parameters.
    const query = sql.join(
      pieces.flatMap((piece, index) => [
        ...(index === 0 ? [] : [sql`${sql.val(listed.get(parameters[index - 1]) ?? parameters[index - 1])}`]),
        sql.raw(piece),
      ]),
      sql``,
    );
    const explain = storage.dialect === 'sqlite' ? sql`explain query plan ` : sql`explain `;
    return storage.commit('global', async (db) => {
      const { rows } = await sql<Record<string, unknown>>`${explain}${query}`.execute(db);
      return rows.map((row) => row['detail'] ?? row['QUERY PLAN']).join('\n');
    });
  }

  test('however many deliveries there are, no query of the work looks at all of them', async () => {
    const { hook, storage } = hooked();
    await hook(url);
    const dead = await hook('https://dead.example.com/');
    const paused = await hook('https://paused.example.com/');
    const { now } = storage;
    await storage.commit('global', (db) => pauseHook(db, now, { workspace: 'game', id: paused, actor }));
    await storage.commit('global', async (db) => {
      // Half of them are over; of the others, some thousand are due, some are put off, some wait for others, and some are held.
      for (let thousand = 0; thousand < 12; thousand += 1) {
        const over = thousand % 2 === 0;
        const rows = Array.from({ length: 1_000 }, (_, index) => ({
          id: `msg_${thousand}_${index}`,
          hook_id: thousand === 5 ? paused : dead,
          ordering_key: thousand === 1 ? 'lock:one' : `lock:${thousand}/${index}`,
          event: '{}',
          status: over ? 'delivered' : 'pending',
          attempts: 0,
          next_attempt_at: over || thousand === 1 ? null : thousand === 3 ? 8_000_000_000_000 : 0,
          finished_at: over ? 8_000_000_000_000 : null,
          created_at: 0,
        }));
        for (let from = 0; from < 1_000; from += 100) {
          await db
            .insertInto('deliveries')
            .values(rows.slice(from, from + 100))
            .execute();
        }
      }
      if (storage.dialect === 'postgres') await sql`analyze`.execute(db);
    });

    const queries: Recorded[] = [];
    const watched = recorded(storage, queries);
    await watched.commit('global', (db) => acquireIn(db, storage, 'a'));
    await watched.commit('global', (db) => releaseIn(db, storage, 'a'));
    const claim = async (busy: readonly string[]) => {
      const claimed = await claimNext(watched, busy);
      expect(claimed?.hook.id).not.toBe(paused);
      if (claimed === undefined) throw new Error('There is nothing to claim.');
      return claimed;
    };
    const settle = (claimed: ClaimedDelivery, kind: 'delivered' | 'retry' | 'gone') =>
      watched.commit('global', (db) => settleDelivery(db, now, claimed, { kind, why: '', afterMs: 0 }, made));
    expect(await settle(await claim([dead]), 'delivered')).toBe(true);
    expect(await settle(await claim([dead]), 'retry')).toBe(true);
    const ofTheDead = await claim([]);
    expect(await renewLease(watched, 'deliveries', ofTheDead)).toBe(true);
    await endLease(watched, 'deliveries', ofTheDead);
    const row = await findHook(storage.read, 'game', dead);
    if (row === undefined) throw new Error('There is no such hook.');
    const { deliveries, next } = await listDeliveries(watched, row, { limit: 20 });
    expect((await listDeliveries(watched, row, { limit: 20, before: next })).deliveries).toHaveLength(20);
    expect(await findDelivery(watched, row, deliveries[0]?.id ?? '')).toBeDefined();
    expect((await listDeliveries(watched, row, { limit: 20, only: 'open' })).deliveries).toHaveLength(20);
    for (const only of ['failed', 'dropped'] as const) {
      expect((await listDeliveries(watched, row, { limit: 20, only })).deliveries).toEqual([]);
    }
    expect(await findHookOverview(watched.read, 'game', dead)).toMatchObject({ failed_deliveries: 0 });
    for (const delivery of ['msg_0_0', 'msg_3_0', ofTheDead.id]) {
      const request = { workspace: 'game', hook: dead, delivery, actor };
      expect(await watched.commit('global', (db) => sendAgain(db, now, request))).toMatchObject({ kind: 'sent-again' });
    }
    expect(await settle(await claim([]), 'gone')).toBe(true);
    await removeOldDeliveries(watched);

    const aboutDeliveries = queries.filter(({ text }) => text.includes('deliveries'));
    expect(aboutDeliveries.length).toBeGreaterThan(20);
    for (const query of aboutDeliveries) {
      const plan = await planOf(hooked(), query);
      expect(plan, query.text).not.toMatch(/SCAN deliveries|Seq Scan on deliveries/);
      // The clock has to be a bound of the index, not a filter behind it.
      if (/next_attempt_at <=/.test(query.text)) {
        expect(plan, query.text).toMatch(/next_deliveries.*next_attempt_at<|Index Cond: .*next_attempt_at <=/);
      }
      // PostgreSQL knows how many there are, and may find another way to be the shorter one.
      if (storage.dialect === 'sqlite') {
        const { text } = query;
        if (/^select .*"last_error" is not null/.test(text)) expect(plan, text).toContain('INDEX troubled_deliveries');
        if (/"finished_at" is null.* order by "sequence" desc/.test(text))
          expect(plan, text).toContain('INDEX open_deliveries');
      }
    }
  });
});
