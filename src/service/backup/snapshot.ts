import { sql } from 'kysely';
import type { Database, Storage } from '../storage/storage.ts';

/** All queries of the work see the data that was committed before the first query. They do not block changes. */
export function readSnapshot<T>({ dialect, read }: Storage, work: (db: Database) => Promise<T>): Promise<T> {
  if (dialect === 'postgres') {
    return read.transaction().execute(async (db) => {
      await sql`set transaction isolation level repeatable read, read only`.execute(db);
      await waitForReader(db);
      return work(db);
    });
  }
  return read.connection().execute(async (db) => {
    await sql`begin deferred`.execute(db);
    try {
      return await work(db);
    } finally {
      await sql`rollback`.execute(db);
    }
  });
}

/** Disables the timeouts of a transaction on PostgreSQL: a pipe may be slow, and a migration of all rows takes time. */
export async function waitForReader(db: Database): Promise<void> {
  for (const limit of ['statement_timeout', 'idle_in_transaction_session_timeout'])
    await sql`select set_config(${limit}, '0', true)`.execute(db);
}
