import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Dialect, DummyDriver, Kysely, PostgresDialect, type PostgresPool, type RawBuilder, sql } from 'kysely';
import pg from 'pg';
import { sentAhead } from './batch-query.ts';
import { groupCommits } from './commit-group.ts';
import { createPostgresBroadcast } from './postgres-broadcast.ts';
import { createTables, hasTables } from './schema.ts';
import type { CommitScope, Storage } from './storage.ts';
import type { Tables } from './tables.ts';
import { withClock } from './timestamp.ts';
import { checkNewestRows, isAborted, isStalePlan } from './unavailable.ts';

/** Not now(), which is the start of the transaction, because the transaction may have waited for others since then. */
const clock = 'cast(extract(epoch from clock_timestamp()) * 1000 as bigint)';

/** Maximum number of groups of changes in progress, each for a different workspace. */
const maxParallelGroups = 8;

/** As many connections for reads and claims as for changes. They are opened on demand. */
const maxConnections = 2 * maxParallelGroups;

const rebuildTimeoutMs = 24 * 60 * 60 * 1_000;

/** Short, because clients that wait at other instances depend on messages, and one that hangs delays all others. */
const broadcastTimeoutMs = 5_000;

const int8 = 20;

interface PostgresOptions {
  readonly url: string;
  /** Longer than `statement_timeout`, which the server itself enforces. */
  readonly queryTimeoutMs?: number;
  /** Called when an idle connection is lost. The next query opens a new one. */
  readonly onIdleError: (error: Error) => void;
}

export async function openPostgres({ url, queryTimeoutMs = 35_000, onIdleError }: PostgresOptions): Promise<Storage> {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'workspace-service',
    max: maxConnections,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 30_000,
    // An instance that hangs in the middle of a change must not block the others.
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
  // A plan made while a table is nearly empty reads all of its rows, and is kept until the server analyzes the table,
  // so such plans are disabled. Those without an alternative then seem so expensive that the server would compile them.
  // Set by a statement, because poolers refuse such settings at the start of a connection.
  pool.on('connect', (client) => {
    // It fails only together with its connection.
    client.query('set enable_seqscan = off; set jit = off').catch(() => undefined);
  });
  // The pool handles errors of idle connections only. If a connection is lost in use, its query fails, which is
  // handled. The listener is needed because an error event without one would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const dialectWith = (queryTimeoutMs: number) =>
    withClock(new PostgresDialect({ pool: replaceBrokenConnections(pool, queryTimeoutMs) }), clock);
  const dialect = dialectWith(queryTimeoutMs);
  // Used at once, so that closing it also closes the pool: Kysely does not close an instance that was never used.
  const db = new Kysely<Tables>({ dialect });
  const broadcast = createPostgresBroadcast(url, new Kysely<Tables>({ dialect: dialectWith(broadcastTimeoutMs) }));
  const rebuildDb = new Kysely<Tables>({ dialect: dialectWith(rebuildTimeoutMs) });
  // A response promises that the change survives a power failure, whatever the default of the server. Set per
  // transaction, because a connection that is lost while it is set up would never return to the pool of Kysely's
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
    if (!(await hasTables(db))) await rebuild((transaction) => createTables(transaction, 'postgres'));
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return {
    dialect: 'postgres',
    read: db,
    ...groupCommits(db, {
      // The space separates it from ids of workspaces, which contain none.
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
 * Key of an advisory lock. No other program may use it on this database. A global change takes the lock exclusively,
 * and all other changes share it.
 */
const writersLock = 7_241_553_019;

/** First key of the locks of workspaces. PostgreSQL separates locks with two 32-bit keys from those with one key. */
const workspaceLocks = 724_155_301;

/** First key of the lock for changes of tokens. */
const tokensLock = 724_155_302;

/**
 * SQL that takes the locks of a change until the end of its transaction. All changes take the common lock first, and
 * those of a workspace or of tokens take exactly one more, so there can be no deadlock.
 */
function locksFor(scope: CommitScope): RawBuilder<unknown> {
  const all = sql.lit(writersLock);
  if (scope === 'global') return sql`pg_advisory_xact_lock(${all})`;
  const shared = sql`pg_advisory_xact_lock_shared(${all})`;
  if (scope === 'tokens') return sql`${shared}, pg_advisory_xact_lock(${sql.lit(tokensLock)}, 0)`;
  // Workspaces with the same hash wait for each other, which is harmless. Integers of PostgreSQL are signed.
  const workspace = sql`${sql.lit(workspaceLocks)}, ${crc32(scope.workspace) | 0}::integer`;
  return sql`${shared}, pg_advisory_xact_lock(${workspace})`;
}

/** More than the distinct statements of the service. Limits only those whose text varies with their parameters. */
const maxPrepared = 500;

/**
 * Names of prepared statements, by text. They are derived from the text, so that a name means the same in all
 * processes, even behind a pooler that shares their connections.
 */
const prepared = new Map<string, string>();

/**
 * A connection plans a named statement only for its first executions, because planning it costs more than running it.
 * Statements with a long list have no name: a plan for a few rows may read a whole table for each row of the list.
 */
function nameOf(text: string, values: readonly unknown[]): string | undefined {
  if (values.some((value) => typeof value === 'string' && value.length > 10_000)) return undefined;
  const known = prepared.get(text);
  if (known !== undefined || prepared.size === maxPrepared) return known;
  const name = `statement_${createHash('sha256').update(text).digest('hex').slice(0, 40)}`;
  prepared.set(text, name);
  return name;
}

/** Nobody needs the results of these statements. Each is sent with the next one, which also fails if one fails. */
const isSentAhead = (text: string): boolean => /^(?:begin|savepoint change)$/.test(text) || text.endsWith(sentAhead);

/** The time limit of a statement starts when it is sent, so it must not wait for many others. */
const maxSentAhead = 8;

const noResult: pg.QueryResult = { command: '', rowCount: null, oid: 0, fields: [], rows: [] };

/** The same transaction, but parallel queries share a round trip. By default, Kysely waits for each. */
function sendingAtOnce(transaction: Kysely<Tables>, dialect: Dialect): Promise<Kysely<Tables>> {
  const waiting = transaction.getExecutor();
  return waiting.provideConnection(async (connection) => {
    const executor = waiting.withConnectionProvider({ provideConnection: (use) => use(connection) });
    return new Kysely<Tables>({ config: { dialect }, dialect, driver: new DummyDriver(), executor });
  });
}

/**
 * Closes a connection if its prepared statements are stale or a query on it has timed out, so that the next query opens
 * a new one. The driver would keep it, and the next query would wait for the same server, which may be gone after a
 * failover.
 */
const replaceBrokenConnections = (pool: pg.Pool, query_timeout: number): PostgresPool => ({
  options: pool.options,
  end: () => pool.end(),
  async connect() {
    const client = await pool.connect();
    let broken: Error | undefined;
    let ahead: Promise<unknown>[] = [];
    let isInTransaction = false;
    /** The error of the statement that aborted the transaction. Those sent with it only report that it is aborted. */
    let abortedBy: unknown;
    const query = async (text: string, values: unknown[]) => {
      // Fails later queries, too, such as the rollback of the transaction.
      if (broken !== undefined) throw broken;
      if (text === 'begin') isInTransaction = true;
      // The types of the driver lack the timeout of a query.
      const config: pg.QueryConfig & pg.ClientConfig = { name: nameOf(text, values), text, values, query_timeout };
      // Statements of the same turn are sent together, because sending a packet costs more than running a statement.
      const { stream } = client.connection;
      stream.cork();
      process.nextTick(() => stream.uncork());
      const sent = client.query(config);
      if (isInTransaction && isSentAhead(text) && ahead.length < maxSentAhead) {
        // The next statement reports its error.
        sent.catch((error: unknown) => {
          abortedBy ??= error;
        });
        ahead.push(sent);
        return noResult;
      }
      // A rollback is needed even if earlier statements failed.
      const needed = text.startsWith('rollback') ? [] : ahead;
      ahead = [];
      if (['commit', 'rollback'].includes(text)) isInTransaction = false;
      try {
        const [result] = await Promise.all([sent, ...needed]);
        if (text.startsWith('rollback')) abortedBy = undefined;
        return result;
      } catch (error) {
        // The driver's own timeout has no code.
        const isSilent = error instanceof Error && error.message === 'Query read timeout';
        if (error instanceof Error && (isSilent || isStalePlan(error))) broken = error;
        if (isAborted(error)) throw abortedBy ?? error;
        abortedBy ??= error;
        throw error;
      }
    };
    // Kysely also passes cursors, which the service does not use.
    return { query: query as typeof client.query, release: (destroy) => client.release(destroy || broken) };
  },
});
