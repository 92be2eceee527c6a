import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Dialect, DummyDriver, Kysely, PostgresDialect, type PostgresPool, type RawBuilder, sql } from 'kysely';
import pg from 'pg';
import { sentAhead } from './batch-query.ts';
import { groupCommits } from './commit-group.ts';
import { isMigrated, migrate } from './migrate.ts';
import { createPostgresBroadcast } from './postgres-broadcast.ts';
import type { CommitScope, Storage } from './storage.ts';
import type { Tables } from './tables.ts';
import { withClock } from './timestamp.ts';
import { checkNewestRows, isStalePlan } from './unavailable.ts';

/** Not now(), which is the start of the transaction: it may have waited for others since then. */
const clock = 'cast(extract(epoch from clock_timestamp()) * 1000 as bigint)';

/** Maximum number of groups of changes in progress, each for another workspace. */
const maxParallelGroups = 8;

/** Leaves as many connections for reads and claims as changes may use. Connections are opened on demand. */
const maxConnections = 2 * maxParallelGroups;

const rebuildTimeoutMs = 24 * 60 * 60 * 1_000;

const int8 = 20;

interface PostgresOptions {
  readonly url: string;
  /** Longer than `statement_timeout`, the limit of the server itself. */
  readonly queryTimeoutMs?: number;
  /** Called when an idle connection is lost. The next query opens another one. */
  readonly onIdleError: (error: Error) => void;
}

export async function openPostgres({ url, queryTimeoutMs = 35_000, onIdleError }: PostgresOptions): Promise<Storage> {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'workspace-service',
    max: maxConnections,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 30_000,
    // An instance that hangs during a change must not block the others.
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
    pipeline: true,
    types: {
      // Milliseconds and counts stay far below 2^53.
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === int8 ? Number : pg.types.getTypeParser(oid, format === 'binary' ? 'binary' : 'text'),
    },
  });
  pool.on('error', onIdleError);
  // A plan that is made while a table is nearly empty is kept until the server analyzes the table, and would read all of
  // its rows. Plans that must do so then seem so expensive that the server would compile them. Set by a statement, because
  // poolers refuse such settings at the start of a connection.
  pool.on('connect', (client) => {
    // It fails only with its connection.
    client.query('set enable_seqscan = off; set jit = off').catch(() => undefined);
  });
  // The pool handles errors only of idle connections. A connection that is lost in use also fails its query, which is
  // handled. Without a listener, its error event would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const broadcast = createPostgresBroadcast(url);
  const dialectWith = (queryTimeoutMs: number) =>
    withClock(new PostgresDialect({ pool: replaceBrokenConnections(pool, queryTimeoutMs) }), clock);
  const dialect = dialectWith(queryTimeoutMs);
  // It is used at once, and its end is the end of the pool: Kysely ignores the end of an instance that was never used.
  const db = new Kysely<Tables>({ dialect });
  const rebuildDb = new Kysely<Tables>({ dialect: dialectWith(rebuildTimeoutMs) });
  // A response promises that a change survives a power failure, whatever the default of the server. Set per transaction
  // and not per connection: a connection that is lost during its setup would never return to the pool of Kysely's
  // driver.
  const excludeOthers = async (transaction: Kysely<Tables>, scope: CommitScope, isSentAhead = false) => {
    const ahead = isSentAhead ? sql.raw(sentAhead) : sql``;
    await sql`select ${locksFor(scope)}, set_config('synchronous_commit', 'on', true) ${ahead}`.execute(transaction);
  };
  const rebuild: Storage['rebuild'] = (change) =>
    rebuildDb.transaction().execute(async (transaction) => {
      await sql`set local statement_timeout = 0`.execute(transaction);
      await excludeOthers(transaction, 'global');
      return change(transaction);
    });
  try {
    if (!(await isMigrated(db))) await rebuild((transaction) => migrate(transaction, 'postgres'));
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return {
    dialect: 'postgres',
    read: db,
    ...groupCommits(db, {
      // With a space, which no id of a workspace contains.
      queueOf: (scope) => (typeof scope === 'string' ? ` ${scope}` : scope.workspace),
      maxParallel: maxParallelGroups,
      async begin(transaction, scope, isAlone) {
        await excludeOthers(transaction, scope, isAlone);
        return sendingAtOnce(transaction, dialect);
      },
    }),
    rebuild,
    claim: (work) => db.transaction().execute(work),
    broadcast,
    check: () => checkNewestRows(db),
    async close() {
      await broadcast.close();
      await db.destroy();
    },
  };
}

/**
 * Key of an advisory lock, which no other program may use on this database. A global change takes the lock exclusively
 * and all others share it, so that a global change excludes all others.
 */
const writersLock = 7_241_553_019;

/** First key of the locks of workspaces. PostgreSQL separates locks with two 32-bit keys from those with one. */
const workspaceLocks = 724_155_301;

/** First key of the lock for changes of tokens. */
const tokensLock = 724_155_302;

/**
 * SQL that takes the locks of a change, held until the end of its transaction. All changes take the common lock first,
 * and those of a workspace or of tokens take exactly one more, so there are no deadlocks.
 */
function locksFor(scope: CommitScope): RawBuilder<unknown> {
  const all = sql.lit(writersLock);
  if (scope === 'global') return sql`pg_advisory_xact_lock(${all})`;
  const shared = sql`pg_advisory_xact_lock_shared(${all})`;
  if (scope === 'tokens') return sql`${shared}, pg_advisory_xact_lock(${sql.lit(tokensLock)}, 0)`;
  // Workspaces with the same hash only wait for each other. Integers of PostgreSQL are signed.
  const workspace = sql`${sql.lit(workspaceLocks)}, ${crc32(scope.workspace) | 0}::integer`;
  return sql`${shared}, pg_advisory_xact_lock(${workspace})`;
}

/** More than the service has distinct statements. Only limits statements whose text varies with their parameters. */
const maxPrepared = 500;

/**
 * Names of prepared statements, by their texts. They follow from the texts, so that all processes mean the same by a
 * name, also behind a pooler that shares its connections.
 */
const prepared = new Map<string, string>();

/**
 * Each connection plans a named statement for its first executions only: planning costs more than to run it. Not one
 * with a long list: a plan that is made for a few rows may read a whole table for each row of the list.
 */
function nameOf(text: string, values: readonly unknown[]): string | undefined {
  if (values.some((value) => typeof value === 'string' && value.length > 10_000)) return undefined;
  const known = prepared.get(text);
  if (known !== undefined || prepared.size === maxPrepared) return known;
  const name = `statement_${createHash('sha256').update(text).digest('hex').slice(0, 40)}`;
  prepared.set(text, name);
  return name;
}

/** Nobody needs their results, so each is sent together with the next one, which also fails if one of them fails. */
const isSentAhead = (text: string): boolean => /^(?:begin|savepoint change)$/.test(text) || text.endsWith(sentAhead);

/** The time limit of a statement begins when it is sent, so it must not wait for many others. */
const maxSentAhead = 8;

const noResult: pg.QueryResult = { command: '', rowCount: null, oid: 0, fields: [], rows: [] };

/** The same transaction, but queries that run at the same time share a round trip: Kysely would wait for each. */
function sendingAtOnce(transaction: Kysely<Tables>, dialect: Dialect): Promise<Kysely<Tables>> {
  const waiting = transaction.getExecutor();
  return waiting.provideConnection(async (connection) => {
    const executor = waiting.withConnectionProvider({ provideConnection: (use) => use(connection) });
    return new Kysely<Tables>({ config: { dialect }, dialect, driver: new DummyDriver(), executor });
  });
}

/**
 * Closes a connection whose prepared statements are stale, or on which a query has timed out, so that the next query
 * opens another one. The driver would keep it, and the next query would wait for the same server, which may be gone
 * after a failover.
 */
const replaceBrokenConnections = (pool: pg.Pool, query_timeout: number): PostgresPool => ({
  options: pool.options,
  end: () => pool.end(),
  async connect() {
    const client = await pool.connect();
    let broken: Error | undefined;
    let ahead: Promise<unknown>[] = [];
    let isInTransaction = false;
    const query = async (text: string, values: unknown[]) => {
      // For later queries, such as the rollback of the transaction.
      if (broken !== undefined) throw broken;
      if (text === 'begin') isInTransaction = true;
      // The types of the driver lack the timeout of a query.
      const config: pg.QueryConfig & pg.ClientConfig = { name: nameOf(text, values), text, values, query_timeout };
      // The statements of a turn leave together: to send a packet costs more than to run a statement.
      const { stream } = client.connection;
      stream.cork();
      process.nextTick(() => stream.uncork());
      const sent = client.query(config);
      if (isInTransaction && isSentAhead(text) && ahead.length < maxSentAhead) {
        // Its error is that of the next statement.
        sent.catch(() => undefined);
        ahead.push(sent);
        return noResult;
      }
      // A rollback ends what has failed.
      const needed = text.startsWith('rollback') ? [] : ahead;
      ahead = [];
      if (['commit', 'rollback'].includes(text)) isInTransaction = false;
      try {
        const [result] = await Promise.all([sent, ...needed]);
        return result;
      } catch (error) {
        // The driver's own timeout has no code.
        const isSilent = error instanceof Error && error.message === 'Query read timeout';
        if (error instanceof Error && (isSilent || isStalePlan(error))) broken = error;
        throw error;
      }
    };
    // Kysely also passes cursors, which the service does not use.
    return { query: query as typeof client.query, release: (destroy) => client.release(destroy || broken) };
  },
});
