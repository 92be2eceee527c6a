import type { Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { listWorkspaces } from '../workspaces/workspaces.ts';
import { type SyncRow, syncsIn, toSync } from './queue.ts';

export type RecordedSync = ReturnType<typeof recordedSyncOf>;

export async function listSyncs({ read }: Pick<Storage, 'read'>, workspace: string, limit: number) {
  const newest = syncsIn(read, workspace).orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit);
  return (await newest.execute()).map(recordedSyncOf);
}

const recordedSyncOf = (row: SyncRow) => ({
  ...toSync(row),
  /** Name of the token that first requested it, or another trigger. */
  requested_by: row.requested_by,
});

export type WorkspaceOverview = Awaited<ReturnType<typeof overviewOfWorkspaces>>[number];

export type LastSync = NonNullable<WorkspaceOverview['lastSync']>;

export async function overviewOfWorkspaces(storage: Storage) {
  const [workspaces, syncs] = await Promise.all([listWorkspaces(storage.read), lastSyncs(storage)]);
  return workspaces.map((workspace) => ({ ...workspace, lastSync: syncs.get(workspace.id) ?? null }));
}

/** One index lookup per workspace, regardless of how many syncs it has. */
async function lastSyncs({ read }: Storage) {
  const rows = await read
    .selectFrom('workspaces')
    .innerJoin('syncs', (join) =>
      join.on('syncs.id', '=', ({ selectFrom }) =>
        selectFrom('syncs as newest')
          .select('newest.id')
          .whereRef('newest.workspace_id', '=', 'workspaces.id')
          .orderBy('newest.created_at', 'desc')
          .orderBy('newest.id', 'desc')
          .limit(1),
      ),
    )
    .selectAll('syncs')
    .execute();
  return new Map(
    rows.map((row) => [
      row.workspace_id,
      {
        id: row.id,
        branch: row.branch,
        status: row.status,
        /** When it ended, started or was created: the latest known time. */
        at: asTimestamp(row.finished_at ?? row.started_at ?? row.created_at),
      },
    ]),
  );
}
