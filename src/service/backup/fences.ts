import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { Database } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';

/**
 * Far more fences than a workspace can issue in a millisecond, because each is written to disk. The margin also covers
 * a clock that was set back, and the clock of another database.
 */
const maxFencesPerMs = 100;

/** Minimum, for the moment of the backup itself and for clocks that differ. */
const minRaise = 1_000_000;

/**
 * Raises the last fence of every workspace above all fences that may have been issued since the backup, and above those
 * of the replaced database. Returns the difference.
 */
export async function raiseFences(
  db: Database,
  replaced: readonly Selectable<Tables['fences']>[],
  sinceBackupMs: number,
): Promise<number> {
  const raisedBy = minRaise + maxFencesPerMs * Math.max(0, sinceBackupMs);
  await db
    .updateTable('fences')
    .set({ value: sql<number>`value + ${sql.lit(raisedBy)}` })
    .execute();
  // One by one: a statement has a limited number of parameters, and there is a fence for each workspace that ever was.
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
