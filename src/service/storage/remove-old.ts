import { sql } from 'kysely';
import type { Storage } from './storage.ts';

export interface OldRows {
  readonly table: 'syncs' | 'deliveries' | 'remembered_answers';
  /** An index has to begin with it. Rows for which it is null are never old. */
  readonly time: 'finished_at' | 'created_at';
  readonly keptForMs: number;
  /** How many rows one transaction removes: the changes of others wait for it. */
  readonly atOnce?: number;
}

export async function removeOld(
  { read, now, commit }: Pick<Storage, 'read' | 'now' | 'commit'>,
  { table, time, keptForMs, atOnce = 1_000 }: OldRows,
): Promise<void> {
  const at = sql.ref<number>(time);
  const rows = sql.table(table);
  // The clock in a query of its own, so that PostgreSQL finds the time out once and can use the index.
  const old = sql`${at} <= (select ${now}) - ${sql.lit(keptForMs)}`;
  for (;;) {
    const oldest = sql<{ at: number }>`select ${at} as at from ${rows} where ${old} order by ${at}`;
    const [last] = (await sql<{ at: number }>`${oldest} limit 1 offset ${sql.lit(atOnce - 1)}`.execute(read)).rows;
    const piece = last === undefined ? old : sql`${old} and ${at} <= ${last.at}`;
    await commit('global', (db) => sql`delete from ${rows} where ${piece}`.execute(db));
    if (last === undefined) return;
  }
}
