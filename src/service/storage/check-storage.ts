import { sql } from 'kysely';
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
