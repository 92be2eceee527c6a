import type { Storage } from '../storage/storage.ts';
import type { Usage } from './evict.ts';

/** The objects of a workspace on the disk of this instance, at the last measurement. */
export interface MeasuredUsage extends Usage {
  /** For the heads of synced branches; null if everything fits. */
  readonly neededBytes: number | null;
  readonly limitBytes: number | null;
}

/** By workspace. */
export type LfsUsage = Map<string, MeasuredUsage>;

/** Number of bytes that still fit within the limit of a workspace, as of the last measurement. */
export async function remainingBytes(
  { read }: Pick<Storage, 'read'>,
  usage: LfsUsage,
  workspace: string,
): Promise<number> {
  const row = await read.selectFrom('workspaces').select('lfs_limit').where('id', '=', workspace).executeTakeFirst();
  return (row?.lfs_limit ?? Number.POSITIVE_INFINITY) - (usage.get(workspace)?.bytes ?? 0);
}

/** Whether the heads alone need more than the limit, so that eviction cannot reach it. */
export const isOverLimit = ({ neededBytes, limitBytes }: MeasuredUsage): boolean =>
  neededBytes !== null && limitBytes !== null && neededBytes > limitBytes;
