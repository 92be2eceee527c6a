import type { Storage } from '../storage/storage.ts';

/** What the mirror has of a branch. */
export interface SyncedBranch {
  readonly head: string;
  /** In milliseconds, by the database's clock. */
  readonly syncedAt: number;
}

/** By name. */
export type SyncedBranches = ReadonlyMap<string, SyncedBranch>;

export async function syncedBranches({ read }: Pick<Storage, 'read'>, workspace: string): Promise<SyncedBranches> {
  const rows = await read
    .selectFrom('synced_branches')
    .select(['name', 'head', 'synced_at'])
    .where('workspace_id', '=', workspace)
    .orderBy('name')
    .execute();
  return new Map(rows.map(({ name, head, synced_at }) => [name, { head, syncedAt: synced_at }]));
}

/** Of each workspace that has any. */
export async function allSyncedBranches({ read }: Pick<Storage, 'read'>): Promise<ReadonlyMap<string, SyncedBranches>> {
  const rows = await read.selectFrom('synced_branches').select(['workspace_id', 'name', 'head', 'synced_at']).execute();
  const all = new Map<string, Map<string, SyncedBranch>>();
  for (const { workspace_id, name, head, synced_at } of rows) {
    const ofWorkspace = all.get(workspace_id) ?? new Map<string, SyncedBranch>();
    all.set(workspace_id, ofWorkspace.set(name, { head, syncedAt: synced_at }));
  }
  return all;
}
