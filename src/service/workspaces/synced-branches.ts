import { sql } from 'kysely';
import { type BranchHeads, type BranchName, parseBranchName } from '../git/branch-name.ts';
import type { Storage } from '../storage/storage.ts';

export interface SyncedBranch {
  readonly head: string;
  /** Milliseconds, by the clock of the database. */
  readonly syncedAt: number;
  /** Whether the last listing of the remote did not contain it. */
  readonly hasVanished?: boolean;
}

/** Keys are names of branches. */
export type SyncedBranches = ReadonlyMap<string, SyncedBranch>;

/**
 * The branches that the mirror serves, as of their last successful syncs. Branches `a` and `a/b` cannot both exist, so
 * the one that was synced later is served.
 */
export async function publishedBranches(storage: Pick<Storage, 'read'>, workspace: string): Promise<BranchHeads> {
  const synced = await syncedBranches(storage, workspace);
  const published = new Map<BranchName, string>();
  const names = new Set<string>();
  const folders = new Set<string>();
  for (const [text, { head }] of [...synced].toSorted(([, one], [, other]) => other.syncedAt - one.syncedAt)) {
    const name = parseBranchName(text);
    const parents = [...text.matchAll(/\//g)].map(({ index }) => text.slice(0, index));
    if (!name.ok || folders.has(text) || parents.some((parent) => names.has(parent))) continue;
    published.set(name.value, head);
    names.add(text);
    for (const parent of parents) folders.add(parent);
  }
  return published;
}

export async function syncedBranches({ read }: Pick<Storage, 'read'>, workspace: string): Promise<SyncedBranches> {
  const rows = await read
    .selectFrom('synced_branches')
    .select(['name', 'head', 'synced_at as syncedAt', 'vanished_after'])
    .where('workspace_id', '=', workspace)
    .orderBy('name')
    .execute();
  return new Map(
    rows.map(({ name, vanished_after, ...row }) => [name, { ...row, hasVanished: vanished_after === row.syncedAt }]),
  );
}

/** Maximum duration of a job, which may continue to clone a former head. */
const formerForMs = 24 * 60 * 60 * 1_000;

export async function formerHeads({ read, now }: Pick<Storage, 'read' | 'now'>, workspace: string): Promise<string[]> {
  const since = sql<number>`(select ${now}) - ${sql.lit(formerForMs)}`;
  const within = await read
    .selectFrom('syncs')
    .select('head')
    .distinct()
    .where('workspace_id', '=', workspace)
    .where('status', '=', 'succeeded')
    .where('created_at', '>=', since)
    .execute();
  const before = await read
    .selectFrom('synced_branches')
    .where('workspace_id', '=', workspace)
    .where('synced_at', '>=', since)
    .select(({ selectFrom }) =>
      selectFrom('syncs')
        .select('syncs.head')
        .whereRef('syncs.workspace_id', '=', 'synced_branches.workspace_id')
        .whereRef('syncs.branch', '=', 'synced_branches.name')
        .where('syncs.status', '=', 'succeeded')
        .where('syncs.created_at', '<', since)
        .orderBy('syncs.created_at', 'desc')
        .limit(1)
        .as('head'),
    )
    .execute();
  return [...new Set([...within, ...before].flatMap(({ head }) => head ?? []))];
}
