import { sql } from 'kysely';
import type { Sync, Timestamp, Workspace } from '../../interface/resources.ts';
import type { Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { syncOf } from '../syncs/sync-row.ts';
import { listWorkspaces } from './workspaces.ts';

export interface WorkspaceOverview extends Workspace {
  readonly locks: number;
  /** The newest, whether it has ended or not. */
  readonly lastSync: { readonly branch: string; readonly status: Sync['status']; readonly at: Timestamp } | null;
}

async function countLocks({ read, now }: Storage): Promise<Map<string, number>> {
  const counts = await read
    .selectFrom('locks')
    .select('workspace_id')
    .select((select) => select.fn.countAll<number>().as('locks'))
    .where(sql<boolean>`expires_at > ${now}`)
    .groupBy('workspace_id')
    .execute();
  return new Map(counts.map(({ workspace_id, locks }) => [workspace_id, Number(locks)]));
}

async function lastSyncs({ read }: Storage): Promise<Map<string, NonNullable<WorkspaceOverview['lastSync']>>> {
  const rows = await read
    .selectFrom('workspaces')
    .innerJoin('syncs', (join) =>
      join.on('syncs.id', '=', ({ selectFrom }) =>
        selectFrom('syncs as newest')
          .select('newest.id')
          .whereRef('newest.workspace_id', '=', 'workspaces.id')
          .orderBy('newest.created_at', 'desc')
          .orderBy('newest.id')
          .limit(1),
      ),
    )
    .selectAll('syncs')
    .execute();
  return new Map(
    rows.map((row) => [
      row.workspace_id,
      { branch: row.branch, status: syncOf(row).status, at: asTimestamp(row.finished_at ?? row.created_at) },
    ]),
  );
}

export async function overviewOfWorkspaces(storage: Storage): Promise<WorkspaceOverview[]> {
  const [workspaces, locks, syncs] = await Promise.all([
    listWorkspaces(storage.read),
    countLocks(storage),
    lastSyncs(storage),
  ]);
  return workspaces.map((workspace) => ({
    ...workspace,
    locks: locks.get(workspace.id) ?? 0,
    lastSync: syncs.get(workspace.id) ?? null,
  }));
}
