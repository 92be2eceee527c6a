import { crc32 } from 'node:zlib';
import { Kysely, type Dialect as KyselyDialect, PostgresDialect, type RawBuilder, sql } from 'kysely';
import pg from 'pg';
import { checkNewestRows } from './check-storage.ts';
import { groupCommits } from './commit-group.ts';
import { type Migration, migrate } from './migrations.ts';
import { createPostgresBroadcast } from './postgres-broadcast.ts';
import { replaceSilentConnections } from './replace-silent.ts';
import type { Broadcast, CommitScope, Storage } from './storage.ts';
import type { Tables } from './tables.ts';

/** Groups of changes that are under way at the same time, each of another workspace. */
const maxParallelGroups = 8;

/** Reads and claims have as many connections as changes may take. They are opened when they are needed. */
const maxConnections = 2 * maxParallelGroups;

const int8 = 20;

export interface PostgresOptions {
  readonly url: string;
  /** Longer than the server itself allows for a statement. */
  readonly queryTimeoutMs?: number;
  readonly onCommit?: (changes: number) => void;
  readonly onMigrated?: (migration: Migration) => void;
  /** A connection was lost while nobody used it; the next query opens another. */
  readonly onIdleError: (error: Error) => void;
}

export function openPostgres({
  url,
  queryTimeoutMs = 35_000,
  onCommit,
  onMigrated,
  onIdleError,
}: PostgresOptions): Promise<Storage> {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'workspace-service',
    max: maxConnections,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 30_000,
    query_timeout: queryTimeoutMs,
    // An instance that stops in the middle of a change must not hold up the others.
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
    types: {
      // Milliseconds and counts stay far below 2^53.
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === int8 ? Number : pg.types.getTypeParser(oid, format === 'binary' ? 'binary' : 'text'),
    },
  });
  pool.on('error', onIdleError);
  // The pool listens only to connections that nobody uses. One that is lost in use fails its query as well, and that
  // is what counts; unheard, its event would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return openPostgresDialect(
    new PostgresDialect({ pool: replaceSilentConnections(pool) }),
    createPostgresBroadcast(url),
    onCommit,
    onMigrated,
  );
}

/** The same on any driver that speaks PostgreSQL. */
export async function openPostgresDialect(
  dialect: KyselyDialect,
  broadcast: Broadcast & { close(): Promise<void> },
  onCommit: (changes: number) => void = () => undefined,
  onMigrated?: (migration: Migration) => void,
): Promise<Storage> {
  const db = new Kysely<Tables>({ dialect });
  // A response promises that a change survives a power cut, whatever the server's default is. Set here and not for each new
  // connection: a connection lost during that would never return to the pool of Kysely's driver.
  const excludeOthers = async (transaction: Kysely<Tables>, scope: CommitScope) => {
    await sql`select ${locksFor(scope)}, set_config('synchronous_commit', 'on', true)`.execute(transaction);
  };
  try {
    const migration = await db.transaction().execute(async (transaction) => {
      await excludeOthers(transaction, 'global');
      return migrate(transaction, 'postgres');
    });
    if (migration !== undefined) onMigrated?.(migration);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return {
    dialect: 'postgres',
    read: db,
    // Not now(): that is the time at which the transaction began, which may have waited for others since.
    now: sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`,
    ...groupCommits(db, {
      // No workspace has such an id.
      queueOf: (scope) => (typeof scope === 'string' ? ` ${scope}` : scope.workspace),
      maxParallel: maxParallelGroups,
      begin: excludeOthers,
      onCommit,
    }),
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
 * Any number that no other program uses on this database. A global change holds it alone, and every change of a workspace
 * shares it: so a global one waits for all others, and they for it. An instance of an earlier version that still runs takes it
 * alone for each of its changes.
 */
const writersLock = 7_241_553_019;

/** The first half of the locks of workspaces: two numbers of 32 bits are a space of their own. */
const workspaceLocks = 724_155_301;

/** The same for changes of tokens. */
const tokensLock = 724_155_302;

/**
 * The locks that a change waits for, held until the end of its transaction. All changes take them in this order, and those
 * of a workspace or of tokens take one more and no other, so that no two wait for each other.
 */
function locksFor(scope: CommitScope): RawBuilder<unknown> {
  const all = sql.lit(writersLock);
  if (scope === 'global') return sql`pg_advisory_xact_lock(${all})`;
  const shared = sql`pg_advisory_xact_lock_shared(${all})`;
  if (scope === 'tokens') return sql`${shared}, pg_advisory_xact_lock(${sql.lit(tokensLock)}, 0)`;
  // Two workspaces with the same hash merely wait for each other. An integer of PostgreSQL has a sign.
  const workspace = sql`${sql.lit(workspaceLocks)}, ${crc32(scope.workspace) | 0}::integer`;
  return sql`${shared}, pg_advisory_xact_lock(${workspace})`;
}
