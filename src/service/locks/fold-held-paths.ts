import { foldCase } from '../../interface/fold-case.ts';
import { batchQuery, textOf } from '../storage/batch-query.ts';
import type { Storage } from '../storage/storage.ts';

const atOnce = 10_000;

const setFoldedPaths = batchQuery((db, members) =>
  db
    .updateTable('locks')
    .from(members)
    .set({ folded_path: textOf('foldedPath') })
    .whereRef('locks.workspace_id', '=', textOf('workspace'))
    .whereRef('locks.path', '=', textOf('path')),
);

/** Adds folded paths to locks that were acquired without --windows-paths. */
export async function foldHeldPaths({ now, commit }: Storage): Promise<void> {
  for (let folded = atOnce; folded === atOnce; ) {
    folded = await commit('global', async (db) => {
      const locks = await db
        .selectFrom('locks')
        .select(['workspace_id as workspace', 'path'])
        .where('folded_path', 'is', null)
        .limit(atOnce)
        .execute();
      const rows = locks.map((lock) => ({ ...lock, foldedPath: foldCase(lock.path) }));
      if (rows.length > 0) await setFoldedPaths(db, now, rows);
      return rows.length;
    });
  }
}
