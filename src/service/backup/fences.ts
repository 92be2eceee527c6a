import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { Database } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';

type Fence = Selectable<Tables['fences']>;

export const readFences = (db: Database): Promise<readonly Fence[]> => db.selectFrom('fences').selectAll().execute();

/**
 * No workspace gives out that many fences in a millisecond: each is written to the disk. Since it is far more, a clock that
 * was set back, or the clock of another database, makes no difference.
 */
const perMillisecond = 100;

/** For the moment of the backup itself, and for clocks that disagree. */
const atLeast = 1_000_000;

/**
 * Raises the last fence of every workspace above any that can have been given out since the backup, and any that the replaced
 * database has given out. Returns by how much.
 */
export async function raiseFences(db: Database, replaced: readonly Fence[], sinceBackupMs: number): Promise<number> {
  const raisedBy = atLeast + perMillisecond * Math.max(0, sinceBackupMs);
  await db
    .updateTable('fences')
    .set({ value: sql<number>`value + ${sql.lit(raisedBy)}` })
    .execute();
  for (const fence of replaced) {
    await db
      .insertInto('fences')
      .values(fence)
      .onConflict((conflict) =>
        conflict
          .column('workspace_id')
          .doUpdateSet({ value: sql<number>`excluded.value` })
          .where(sql<boolean>`fences.value < excluded.value`),
      )
      .execute();
  }
  return raisedBy;
}
