import { sql } from 'kysely';
import { recordEvents } from '../outbox/outbox.ts';
import type { Database, Now } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { type ClaimedSync, countsOf, type SyncEnd, toSync } from './queue.ts';

/** Finishes a sync, with its branch and its event. False if the claim was lost. */
export async function recordSync(db: Database, now: Now, sync: ClaimedSync, end: SyncEnd): Promise<boolean> {
  const outcome = end.kind === 'succeeded' ? receivedColumns(end) : { error: end.error };
  const row = await db
    .updateTable('syncs')
    .set({ ...outcome, status: end.kind, finished_at: now, claimed_by: null, claimed_until: null })
    .where((where) => where.and({ id: sync.id, claimed_by: sync.claimId }))
    .where('finished_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return false;
  if (end.kind === 'succeeded') {
    await removeConflicting(db, sync);
    const values = { head: end.head, synced_at: now, received_objects: row.received_objects };
    await db
      .insertInto('synced_branches')
      .values({ workspace_id: sync.workspace, name: sync.branch, ...values })
      .onConflict((conflict) =>
        conflict.columns(['workspace_id', 'name']).doUpdateSet({
          ...values,
          // Syncs without new objects keep the earlier number, which is a better estimate for the next sync.
          received_objects: sql<number>`case when ${row.received_objects} > 0 then ${row.received_objects} else synced_branches.received_objects end`,
        }),
      )
      .execute();
  }
  const occurredAt = asTimestamp(row.finished_at ?? row.created_at);
  const data = { sync: toSync(row), triggered_by: row.requested_by };
  await recordEvents(db, now, [{ type: `sync.${end.kind}`, workspace: sync.workspace, occurredAt, data }]);
  return true;
}

const receivedColumns = ({ head, receivedObjects, lfs }: SyncEnd & { readonly kind: 'succeeded' }) => ({
  head,
  ...countsOf(receivedObjects, lfs),
  missing_objects: lfs.missing.count,
  missing: lfs.missing.count === 0 ? null : JSON.stringify(lfs.missing.named),
});

/** Branches `a` and `a/b` cannot both exist, so the remote has deleted the one that was synced earlier. */
const removeConflicting = (db: Database, { workspace, branch }: ClaimedSync) =>
  db
    .deleteFrom('synced_branches')
    .where('workspace_id', '=', workspace)
    .where(
      sql<boolean>`(substr(name, 1, length(${`${branch}/`})) = ${`${branch}/`}
        or substr(${branch}, 1, length(name) + 1) = name || '/')`,
    )
    .execute();
