import type { Database, Storage } from '../storage/storage.ts';

/** A branch at its last sync. A later sync has another time. */
export interface SyncedState {
  readonly name: string;
  readonly syncedAt: number;
  /** True if the last listing of the remote did not contain it. */
  readonly hasVanished: boolean;
}

export async function syncedStates(
  { read }: Pick<Storage, 'read'>,
  workspace: string,
): Promise<readonly SyncedState[]> {
  const rows = await read
    .selectFrom('synced_branches')
    .select(['name', 'synced_at', 'vanished_after'])
    .where('workspace_id', '=', workspace)
    .execute();
  return rows.map(({ name, synced_at: syncedAt, vanished_after }) => ({
    name,
    syncedAt,
    hasVanished: vanished_after === syncedAt,
  }));
}

/**
 * Records the branches that the remote no longer lists, for the next successful sync. The states must be older than the
 * list, which lacks branches that were created and synced in between.
 */
export async function noteVanished(
  { commit }: Pick<Storage, 'commit'>,
  workspace: string,
  states: readonly SyncedState[],
  listed: ReadonlyMap<string, unknown>,
): Promise<void> {
  const changed = states.filter(({ name, hasVanished }) => hasVanished === listed.has(name));
  if (changed.length === 0) return;
  await commit({ workspace }, async (db) => {
    for (const state of changed) {
      await db
        .updateTable('synced_branches')
        .set({ vanished_after: listed.has(state.name) ? null : state.syncedAt })
        .where((where) => where.and(rowOf(workspace, state)))
        .execute();
    }
  });
}

/** Removes a branch that the remote no longer has, unless it was synced again. */
export async function removeBranch(
  { commit }: Pick<Storage, 'commit'>,
  workspace: string,
  state: SyncedState,
): Promise<void> {
  await commit({ workspace }, (db) =>
    db
      .deleteFrom('synced_branches')
      .where((where) => where.and({ ...rowOf(workspace, state), synced_at: state.syncedAt }))
      .execute(),
  );
}

/** Removes all branches that have vanished, and returns their names. */
export async function removeVanished(db: Database, workspace: string): Promise<readonly string[]> {
  const forgotten = await db
    .deleteFrom('synced_branches')
    .where('workspace_id', '=', workspace)
    .whereRef('vanished_after', '=', 'synced_at')
    .returning('name')
    .execute();
  return forgotten.map(({ name }) => name);
}

const rowOf = (workspace: string, { name }: Pick<SyncedState, 'name'>) => ({ workspace_id: workspace, name });
