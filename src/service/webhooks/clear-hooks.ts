import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { idOfRemoved, isNotRemoved, isRemoved } from '../outbox/hook-row.ts';
import { pauseMs, removeInBatches } from '../storage/remove-old.ts';
import type { Storage } from '../storage/storage.ts';
import { dropWaiting, maxDroppedAtOnce } from './delivery-queue.ts';

/** A transaction of this size blocks other changes for about 10 ms. */
const atOnce = 500;

/**
 * Completes the removals of hooks, and drops the deliveries of hooks whose receivers answered 410. A hook may have
 * hundreds of thousands of deliveries, so they are changed in batches. After an interruption, any instance continues.
 */
export async function clearHooks(storage: Storage, signal?: AbortSignal): Promise<void> {
  const { read, now, commit } = storage;
  // Reads only an index.
  const removed = await read
    .selectFrom('hooks')
    .select(['workspace_id as workspace', 'url'])
    .where(isRemoved)
    .execute();
  for (const { workspace, url } of removed) {
    const id = idOfRemoved(url);
    const rows = { table: 'deliveries', time: 'sequence', workspace, atOnce } as const;
    await removeInBatches(storage, rows, sql`hook_id = ${id}`, async () => signal?.aborted !== true);
    if (signal?.aborted) return;
    await commit({ workspace }, (db) => db.deleteFrom('hooks').where('id', '=', id).execute());
  }
  const gone = await read
    .selectFrom('hook_backlogs')
    .innerJoin('hooks', 'hooks.id', 'hook_id')
    .select(['hook_id as id', 'workspace_id as workspace'])
    .where('waiting', '>', 0)
    .where('active', '=', 0)
    .where(isNotRemoved)
    .execute();
  for (const { id, workspace } of gone) {
    for (let dropped = maxDroppedAtOnce; dropped === maxDroppedAtOnce && !signal?.aborted; await sleep(pauseMs)) {
      dropped = await commit({ workspace }, (db) => dropWaiting(db, now, id));
    }
  }
}
