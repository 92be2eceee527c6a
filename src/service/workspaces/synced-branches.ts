import { sql } from 'kysely';
import type { BranchName } from '../../interface/branch-name.ts';
import type { BranchHeads } from '../git/bare-repository.ts';
import type { Storage } from '../storage/storage.ts';
import { now } from '../storage/timestamp.ts';

export interface SyncedBranch {
  readonly head: string;
  /** Milliseconds, by the clock of the database. */
  readonly syncedAt: number;
  /** The number of objects in the last sync that received any: the estimate for the next one. */
  readonly receivedObjects: number;
}

export type SyncedBranches = ReadonlyMap<BranchName, SyncedBranch>;

/** The branches that the mirror serves, as of their last successful syncs. */
export const publishedBranches = async (storage: Pick<Storage, 'read'>, workspace: string): Promise<BranchHeads> =>
  new Map([...(await syncedBranches(storage, workspace))].map(([name, { head }]) => [name, head]));

export async function syncedBranches({ read }: Pick<Storage, 'read'>, workspace: string): Promise<SyncedBranches> {
  const rows = await read
    .selectFrom('synced_branches')
    .select(['name', 'head', 'synced_at as syncedAt', 'received_objects as receivedObjects'])
    .where('workspace_id', '=', workspace)
    .orderBy('name')
    .execute();
  // Only syncs write names, which they have parsed.
  return new Map(rows.map(({ name, ...row }) => [name as BranchName, row]));
}

/** Stops serving these branches, except for any that was synced again. */
export async function removeBranches(
  { commit }: Pick<Storage, 'commit'>,
  workspace: string,
  branches: readonly (readonly [name: string, SyncedBranch])[],
): Promise<void> {
  if (branches.length === 0) return;
  await commit({ workspace }, async (db) => {
    for (const [name, { syncedAt }] of branches) {
      await db
        .deleteFrom('synced_branches')
        .where((where) => where.and({ workspace_id: workspace, name, synced_at: syncedAt }))
        .execute();
    }
  });
}

/** Maximum duration of a job, which may still clone a former head. */
const formerForMs = 24 * 60 * 60 * 1_000;

/** For these branches: the heads of all syncs within this time, and the head that the earliest of them replaced. */
export async function formerHeads(
  { read }: Pick<Storage, 'read'>,
  workspace: string,
  branches: BranchHeads,
): Promise<string[]> {
  const succeeded = read.selectFrom('syncs').where('workspace_id', '=', workspace).where('status', '=', 'succeeded');
  const replaced = succeeded
    .select('head')
    .where(sql<boolean>`syncs.branch = recent_branches.branch and finished_at < recent_branches.first`)
    .orderBy('finished_at', 'desc')
    .limit(sql.lit(1));
  const heads = await read
    .with('recent', () =>
      succeeded
        .select(['branch', 'head', 'finished_at'])
        .where(sql<boolean>`created_at >= (select ${now}) - ${sql.lit(formerForMs)}`),
    )
    .with('recent_branches', (db) =>
      db
        .selectFrom('recent')
        .select(({ fn }) => ['branch', fn.min('finished_at').as('first')])
        .groupBy('branch'),
    )
    .selectFrom('recent')
    .select(['branch', 'head'])
    .union(({ selectFrom }) => selectFrom('recent_branches').select(['branch', replaced.as('head')]))
    .execute();
  // Only enqueue() writes the column.
  return heads.flatMap(({ branch, head }) => (head !== null && branches.has(branch as BranchName) ? [head] : []));
}
