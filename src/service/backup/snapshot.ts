import { sql } from 'kysely';
import type { Database, Storage } from '../storage/storage.ts';

/** All queries of the work see what was committed at the moment of the first one. They hold up no change of the service. */
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

/** Lets a transaction on PostgreSQL last: a pipe may be slow, and a migration of all rows takes its time. */
export async function waitForReader(db: Database): Promise<void> {
  for (const limit of ['statement_timeout', 'idle_in_transaction_session_timeout'])
    await sql`select set_config(${limit}, '0', true)`.execute(db);
}
