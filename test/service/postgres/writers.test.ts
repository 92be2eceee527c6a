import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgres } from '../../../src/service/storage/postgres.ts';
import type { CommitScope, Database, Storage } from '../../../src/service/storage/storage.ts';
import { postgresServer } from '../../support/databases.ts';
import { postgresOfTests } from '../../support/postgres-of-tests.ts';

const game: CommitScope = { workspace: 'game' };
const film: CommitScope = { workspace: 'film' };

describe.skipIf(postgresServer === undefined)('writers on PostgreSQL (needs TEST_DATABASE_URL)', () => {
  const url = postgresOfTests();
  let one: Storage;
  let other: Storage;
  let watcher: pg.Client;

  beforeAll(async () => {
    one = await openPostgres({ url: url(), onIdleError: () => undefined });
    other = await openPostgres({ url: url(), onIdleError: () => undefined });
    watcher = new pg.Client({ connectionString: url() });
    await watcher.connect();
  });
  // They are undefined if the set-up failed.
  afterAll(() => Promise.all([one?.close(), other?.close(), watcher?.end()]));

  /** Starts a change that ends when it is told to. */
  async function begun(storage: Storage, scope: CommitScope) {
    const [begins, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const done = storage.commit(scope, async () => {
      begins.resolve();
      await mayEnd.promise;
    });
    await begins.promise;
    return {
      async end() {
        mayEnd.resolve();
        await done;
      },
    };
  }

  /** Starts the second change while the first one runs, and expects that it waits for its end. */
  async function expectInTurn(first: CommitScope, startSecond: (order: string[]) => Promise<unknown>): Promise<void> {
    const running = await begun(one, first);
    const order: string[] = [];
    const next = startSecond(order);
    await expect.poll(waitingWriters).toBe(1);
    order.push('first has ended');
    await running.end();
    await next;
    expect(order).toEqual(['first has ended', 'second']);
  }

  const waitingWriters = async (): Promise<number> => {
    const { rows } = await watcher.query(
      `select count(*)::int as waiting from pg_locks join pg_database on pg_database.oid = database
       where datname = current_database() and locktype = 'advisory' and not granted`,
    );
    return rows[0].waiting;
  };

  test.each([
    ['at one instance', () => one],
    ['at two instances', () => other],
  ])('changes of two workspaces run in parallel %s', async (_, second) => {
    const ofGame = await begun(one, game);
    expect(await second().commit(film, async () => 'done')).toBe('done');
    await ofGame.end();
  });

  test('the error of a change is that of its first failed statement, not of those that were sent with it', async () => {
    const failed = one.commit(game, async (db) => {
      const first = sql`select 1 / 0`.execute(db).catch(() => undefined);
      await Promise.all([sql`select 1`.execute(db), first]);
    });
    await expect(failed).rejects.toThrow('division by zero');
  });

  test.each<readonly [string, CommitScope, CommitScope]>([
    ['of tokens does not block changes of a workspace', 'tokens', game],
    ['of a workspace does not block changes of tokens', game, 'tokens'],
  ])('a change %s', async (_, first, second) => {
    const running = await begun(one, first);
    expect(await one.commit(second, async () => 'done')).toBe('done');
    expect(await other.commit(second, async () => 'done')).toBe('done');
    await running.end();
  });

  test.each<readonly [string, CommitScope, CommitScope]>([
    ['of a workspace and another of the same one', game, game],
    ['of a workspace and a global one', game, 'global'],
    ['of everything and one of a workspace', 'global', game],
    ['of tokens and another one of tokens', 'tokens', 'tokens'],
    ['of everything and one of tokens', 'global', 'tokens'],
  ])('a change %s run one after the other, also at two instances', async (_, first, second) => {
    await expectInTurn(first, (order) => other.commit(second, async () => void order.push('second')));
  });

  test('a batched change that is alone waits for a change at another instance before its first query', async () => {
    await expectInTurn(game, (order) => {
      const append = other.batchCommits(
        () => game,
        async (db, names: readonly string[]) => {
          await sql`select 1`.execute(db);
          order.push(...names);
          return names;
        },
      );
      return append('second');
    });
  });

  test('reads and claims get a connection, however many workspaces have changes', async () => {
    const mayEnd = Promise.withResolvers<void>();
    const changes = Array.from({ length: 40 }, (_, index) =>
      one.commit({ workspace: `workspace-${index}` }, async () => {
        await mayEnd.promise;
      }),
    );
    expect(await one.read.selectFrom('tokens').selectAll().execute()).toEqual([]);
    expect(await one.claim((db) => db.selectFrom('syncs').selectAll().execute())).toEqual([]);
    mayEnd.resolve();
    await Promise.all(changes);
  });

  test('a workspace with many changes does not delay another one', async () => {
    const order: string[] = [];
    const work = async (db: Database) => {
      await sql`select 1`.execute(db);
      order.push('busy');
    };
    const many = Array.from({ length: 10 }, (_, workspace) =>
      Array.from({ length: 300 }, () => one.commit({ workspace: `busy-${workspace}` }, work)),
    ).flat();
    const single = one.commit(film, async () => void order.push('single'));
    await Promise.all([...many, single]);
    expect(order.indexOf('single')).toBeLessThan(10 * 256);
  });

  test('changes that arrive while their group waits for another instance join that group', async () => {
    const running = await begun(other, game);
    // The changes of a group share a transaction.
    const groups = new Set<Database>();
    const change = async (db: Database) => groups.add(db);
    const first = one.commit(game, change);
    await expect.poll(waitingWriters).toBe(1);
    const more = Array.from({ length: 9 }, () => one.commit(game, change));
    await running.end();
    await Promise.all([first, ...more]);
    expect(groups.size).toBe(1);
  });

  test('changes of all kinds at once cause no deadlock', async () => {
    const scopes: readonly CommitScope[] = [game, 'tokens', film, 'global'];
    const write = (db: Database) => db.updateTable('fences').set({ value: 1 }).execute();
    const changes = Array.from({ length: 200 }, (_, index) => {
      const scope = scopes[(index * 7 + Math.floor(index / 4)) % scopes.length] ?? game;
      return (index % 2 === 0 ? one : other).commit(scope, scope === 'global' ? write : async () => undefined);
    });
    await Promise.all(changes);
    const deadlocks = 'select deadlocks::int from pg_stat_database where datname = current_database()';
    expect((await watcher.query(deadlocks)).rows).toEqual([{ deadlocks: 0 }]);
  });

  test('a change is on disk before the response, even with synchronous_commit off', async () => {
    const { rows } = await watcher.query('select current_database() as name');
    await watcher.query(`alter database ${rows[0].name} set synchronous_commit = off`);
    const storage = await openPostgres({ url: url(), onIdleError: () => undefined });
    try {
      const setting = sql<{ value: string }>`select current_setting('synchronous_commit') as value`;
      expect((await setting.execute(storage.read)).rows).toEqual([{ value: 'off' }]);
      expect((await storage.commit('global', (db) => setting.execute(db))).rows).toEqual([{ value: 'on' }]);
    } finally {
      await storage.close();
    }
  });

  test('a restore may take longer than any other change', async () => {
    await watcher.query('select pg_advisory_lock(7241553019)');
    // A start does not wait for it, either.
    const storage = await openPostgres({ url: url(), queryTimeoutMs: 300, onIdleError: () => undefined });
    await watcher.query('select pg_advisory_unlock(7241553019)');
    try {
      const slow = sql<{ limit: string }>`select current_setting('statement_timeout') as limit, pg_sleep(0.5)`;
      expect((await storage.rebuild((db) => slow.execute(db))).rows).toMatchObject([{ limit: '0' }]);
      await expect(storage.commit('global', (db) => slow.execute(db))).rejects.toThrow('Query read timeout');
    } finally {
      await storage.close();
    }
  });
});
