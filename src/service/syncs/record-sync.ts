import { sql } from 'kysely';
import type { Git } from '../git/git.ts';
import { localLimits } from '../git/git-command.ts';
import { GitError } from '../git/git-error.ts';
import type { ChangedPaths } from '../outbox/event.ts';
import { recordEvents } from '../outbox/outbox.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { type ClaimedSync, finishSync, type SyncEnd, toSync } from './queue.ts';

/** Finishes a sync, with its branch and its event. False if the claim was lost. */
export async function recordSync(
  db: Database,
  now: Now,
  sync: ClaimedSync,
  end: SyncEnd,
  changed: ChangedPaths,
): Promise<boolean> {
  const row = await finishSync(db, now, sync, end);
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
  const about = { workspace: sync.workspace, occurredAt: asTimestamp(row.finished_at ?? row.created_at) };
  const data = { sync: toSync(row), triggered_by: row.requested_by };
  await recordEvents(db, now, [
    end.kind === 'succeeded'
      ? { ...about, type: 'sync.succeeded', data: { ...data, ...changed } }
      : { ...about, type: 'sync.failed', data },
  ]);
  return true;
}

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

const maxChangedPaths = 1_000;

/** Read before the sync is recorded, which replaces the head of the last one. */
export async function changedPaths(
  { storage, git }: { readonly storage: Storage; readonly git: Pick<Git, 'listDifferences'> },
  sync: ClaimedSync,
  end: SyncEnd,
): Promise<ChangedPaths> {
  const unknown = { changed_paths: null, more_changed_paths: false };
  if (end.kind === 'failed') return unknown;
  const last = await storage.read
    .selectFrom('synced_branches')
    .select('head')
    .where('workspace_id', '=', sync.workspace)
    .where('name', '=', sync.branch)
    .executeTakeFirst();
  if (last === undefined) return unknown;
  try {
    const paths = new Set<string>();
    await git.listDifferences(sync.workspace, { from: last.head, to: end.head, limits: localLimits }, (path) => {
      if (paths.size <= maxChangedPaths) paths.add(path);
    });
    return { changed_paths: [...paths].slice(0, maxChangedPaths), more_changed_paths: paths.size > maxChangedPaths };
  } catch (error) {
    // After a forced push, the mirror may have lost the last head.
    if (error instanceof GitError) return unknown;
    throw error;
  }
}
