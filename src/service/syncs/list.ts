import type { Storage } from '../storage/storage.ts';
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
