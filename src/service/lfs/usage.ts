import type { Storage } from '../storage/storage.ts';
import { isOrphaned } from '../storage/unavailable.ts';
import type { Eviction, Usage } from './evict.ts';

/** Stores the usage for all instances. Has no effect if the workspace was removed in the meantime. */
export async function recordUsage(
  { commit }: Pick<Storage, 'commit'>,
  workspace: string,
  { usage, neededBytes }: Pick<Eviction, 'usage' | 'neededBytes'>,
): Promise<void> {
  const values = { ...usage, needed_bytes: neededBytes };
  await commit({ workspace }, (db) =>
    db
      .insertInto('lfs_usage')
      .values({ workspace_id: workspace, ...values })
      .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(values))
      .execute(),
  ).catch((error: unknown) => {
    if (!isOrphaned(error)) throw error;
  });
}

export type MeasuredUsage = NonNullable<Awaited<ReturnType<typeof usageOf>>>;

/** Usage at the last measurement. `neededBytes` is for the heads of synced branches, if not everything fits. */
export async function usageOf({ read }: Pick<Storage, 'read'>, workspace: string) {
  return read
    .selectFrom('lfs_usage')
    .select(['objects', 'bytes', 'needed_bytes as neededBytes'])
    .where('workspace_id', '=', workspace)
    .executeTakeFirst();
}

/** Number of bytes that still fit within the limit of a workspace, as of the last measurement. */
export async function remainingBytes({ read }: Pick<Storage, 'read'>, workspace: string): Promise<number> {
  const row = await read
    .selectFrom('workspaces')
    .leftJoin('lfs_usage', 'workspace_id', 'workspaces.id')
    .select(['lfs_limit', 'bytes'])
    .where('workspaces.id', '=', workspace)
    .executeTakeFirst();
  return (row?.lfs_limit ?? Number.POSITIVE_INFINITY) - (row?.bytes ?? 0);
}

/** Usage of all workspaces, and the number of those whose heads alone exceed the limit. */
export async function totalUsage({ read }: Pick<Storage, 'read'>): Promise<Usage & { readonly overLimit: number }> {
  const rows = await read
    .selectFrom('lfs_usage')
    .innerJoin('workspaces', 'workspaces.id', 'workspace_id')
    .select(['objects', 'bytes', 'needed_bytes', 'lfs_limit'])
    .execute();
  return {
    objects: rows.reduce((sum, { objects }) => sum + objects, 0),
    bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
    overLimit: rows.filter(({ needed_bytes, lfs_limit }) => isOverLimit(needed_bytes, lfs_limit)).length,
  };
}

/** Whether the heads alone need more than the limit, so that eviction cannot reach it. */
export const isOverLimit = (neededBytes: number | null, limitBytes: number | null): boolean =>
  neededBytes !== null && limitBytes !== null && neededBytes > limitBytes;
