import { countLocks } from '../locks/list.ts';
import type { Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { toWorkspace } from '../workspaces/workspaces.ts';
import { type SyncRow, syncsIn, toSync } from './queue.ts';

export type RecordedSync = ReturnType<typeof recordedSyncOf>;

/** Position in the history: a time in milliseconds, and the id of a sync that was created at this time. */
export interface SyncPosition {
  readonly createdAt: number;
  readonly id: string;
}

interface SyncQuery {
  readonly branch?: string | undefined;
  /** Selects older syncs: the `next` of the previous page. */
  readonly before?: SyncPosition | undefined;
  readonly limit: number;
}

/** A page of syncs, newest first by time of creation, and the cursor of the next page; undefined on the last one. */
export async function listSyncs(
  { read }: Pick<Storage, 'read'>,
  workspace: string,
  { branch, before, limit }: SyncQuery,
) {
  let syncs = syncsIn(read, workspace);
  if (branch !== undefined) syncs = syncs.where('branch', '=', branch);
  if (before !== undefined) {
    const { createdAt, id } = before;
    syncs = syncs
      .where('created_at', '<=', createdAt)
      .where(({ or, eb }) => or([eb('created_at', '<', createdAt), eb('id', '<', id)]));
  }
  const rows = await syncs
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    syncs: page.map(recordedSyncOf),
    next: rows.length > limit && last !== undefined ? { createdAt: last.created_at, id: last.id } : undefined,
  };
}

const recordedSyncOf = (row: SyncRow) => ({
  ...toSync(row),
  /** Name of the token that requested it first, or what else did. */
  requested_by: row.requested_by,
});

export type WorkspaceOverview = Awaited<ReturnType<typeof overviewOfWorkspaces>>[number];

export type LastSync = NonNullable<WorkspaceOverview['lastSync']>;

/** Overview of all workspaces, ordered by id. */
export async function overviewOfWorkspaces(storage: Storage) {
  const [workspaces, locks, syncs] = await Promise.all([
    storage.read.selectFrom('workspaces').selectAll().orderBy('id').execute(),
    countLocks(storage),
    lastSyncs(storage),
  ]);
  return workspaces.map((row) => ({
    ...toWorkspace(row),
    locks: locks.get(row.id) ?? 0,
    lastSync: syncs.get(row.id) ?? null,
  }));
}

/** One index lookup per workspace, regardless of the number of its syncs. */
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
        status: toSync(row).status,
        /** Time of its end, start or creation: the latest that is known. */
        at: asTimestamp(row.finished_at ?? row.started_at ?? row.created_at),
      },
    ]),
  );
}
