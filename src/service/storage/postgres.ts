import { Kysely, type Dialect as KyselyDialect, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { groupCommits } from './commit-group.ts';
import { migrate } from './migrations.ts';
import type { Storage } from './storage.ts';
import type { Tables } from './tables.ts';

/** Any number that no other program uses on this database: all writers of the service queue behind it. */
const writersLock = 7_241_553_019;

const int8 = 20;

export interface PostgresOptions {
  readonly url: string;
  readonly onCommit?: (changes: number) => void;
  /** A connection was lost while nobody used it; the next query opens another. */
  readonly onIdleError: (error: Error) => void;
}

export function openPostgres({ url, onCommit, onIdleError }: PostgresOptions): Promise<Storage> {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'workspace-service',
    max: 10,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 30_000,
    query_timeout: 35_000,
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
  return openPostgresDialect(new PostgresDialect({ pool }), onCommit);
}

/** The same on any driver that speaks PostgreSQL. */
export async function openPostgresDialect(
  dialect: KyselyDialect,
  onCommit: (changes: number) => void = () => undefined,
): Promise<Storage> {
  const db = new Kysely<Tables>({ dialect });
  // What was answered has to survive a power cut, whatever the server's default is. It is said here and not once for each
  // new connection: one that is lost while Kysely's driver prepares it never gets back into the pool.
  const excludeOtherWriters = async (transaction: Kysely<Tables>) => {
    const lock = sql`pg_advisory_xact_lock(${sql.lit(writersLock)})`;
    await sql`select ${lock}, set_config('synchronous_commit', 'on', true)`.execute(transaction);
  };
  try {
    await db.transaction().execute(async (transaction) => {
      await excludeOtherWriters(transaction);
      await migrate(transaction, 'postgres');
    });
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return {
    dialect: 'postgres',
    read: db,
    // Not now(): that is the time at which the transaction began, which may have waited for others since.
    now: sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`,
    ...groupCommits(db, { begin: excludeOtherWriters, onCommit }),
    claim: (work) => db.transaction().execute(work),
    close: () => db.destroy(),
  };
}
