import { type DatabaseConnection, sql } from 'kysely';
import type { Database } from './storage.ts';

/** Reads the newest row of each table that locks need, through an index. A query without tables would read no data. */
export async function checkNewestRows(db: Database): Promise<void> {
  await sql`select
    (select name from tokens order by id desc limit 1) as token,
    (select remote from workspaces order by id desc limit 1) as workspace,
    (select value from fences order by workspace_id desc limit 1) as fence,
    (select type from locks order by expires_at desc, workspace_id desc limit 1) as lock,
    (select lock_id from lock_history order by workspace_id desc, at desc, fence desc, kind desc limit 1) as change,
    (select fingerprint from remembered_answers order by created_at desc limit 1) as answer`.execute(db);
}

/** Reports statements that find the database damaged. No check reads all pages, and damage does not disappear. */
export function watchForDamage(connection: DatabaseConnection, onDamage: (error: unknown) => void): void {
  const execute = connection.executeQuery.bind(connection);
  connection.executeQuery = async (...call) => {
    try {
      return await execute(...call);
    } catch (error) {
      if (isDamage(error)) onDamage(error);
      throw error;
    }
  };
}

/** SQLITE_CORRUPT and SQLITE_NOTADB: https://www.sqlite.org/rescode.html */
const damaged = [11, 26];

const isDamage = (error: unknown): boolean =>
  error instanceof Error &&
  'errcode' in error &&
  typeof error.errcode === 'number' &&
  damaged.includes(error.errcode & 0xff);
