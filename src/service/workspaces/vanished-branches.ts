import type { Database, Storage } from '../storage/storage.ts';
import type { SyncedBranches } from './synced-branches.ts';

/**
 * Records the branches that the remote no longer lists, for the next successful sync. The synced branches must be older
 * than the list, which lacks branches that were created and synced in between.
 */
export async function noteVanished(
  { commit }: Pick<Storage, 'commit'>,
  workspace: string,
  synced: SyncedBranches,
  listed: ReadonlyMap<string, unknown>,
): Promise<void> {
  const changed = [...synced].filter(([name, { hasVanished }]) => hasVanished === listed.has(name));
  if (changed.length === 0) return;
  await commit({ workspace }, async (db) => {
    for (const [name, { syncedAt }] of changed) {
      await db
        .updateTable('synced_branches')
        .set({ vanished_after: listed.has(name) ? null : syncedAt })
        .where((where) => where.and({ workspace_id: workspace, name }))
        .execute();
    }
  });
}

/** Removes a branch that the remote no longer has, unless it was synced again. */
export async function removeBranch(
  { commit }: Pick<Storage, 'commit'>,
  row: { readonly workspace_id: string; readonly name: string; readonly synced_at: number },
): Promise<void> {
  await commit({ workspace: row.workspace_id }, (db) =>
    db
      .deleteFrom('synced_branches')
      .where((where) => where.and(row))
      .execute(),
  );
}

export async function removeVanished(db: Database, workspace: string): Promise<readonly string[]> {
  const removed = await db
    .deleteFrom('synced_branches')
    .where('workspace_id', '=', workspace)
    .whereRef('vanished_after', '=', 'synced_at')
    .returning('name')
    .execute();
  return removed.map(({ name }) => name);
}
