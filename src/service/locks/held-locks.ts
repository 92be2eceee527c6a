import { sql } from 'kysely';
import type { Lock } from '../../interface/resources.ts';
import type { Storage } from '../storage/storage.ts';
import { lockOf } from './lock-row.ts';

/** A lock, and the token that may release it without force. */
export interface HeldLock {
  readonly lock: Lock;
  readonly tokenId: string;
}

const ofWorkspace = ({ read, now }: Storage, workspace: string) =>
  read.selectFrom('locks').where('workspace_id', '=', workspace).where(sql<boolean>`expires_at > (select ${now})`);

/** Every lock of a workspace, in no particular order. */
export async function heldLocks(storage: Storage, workspace: string): Promise<readonly HeldLock[]> {
  const rows = await ofWorkspace(storage, workspace).selectAll().execute();
  return rows.map((row) => ({ lock: lockOf(row), tokenId: row.token_id }));
}

/**
 * Another one as soon as a lock is taken, renewed, released or over, for a small part of what reading all of them costs.
 * As text: the sum is larger than a number of JavaScript can tell exactly.
 */
export async function lockSignature(storage: Storage, workspace: string): Promise<string> {
  const { signature } = await ofWorkspace(storage, workspace)
    .select(
      sql<string>`cast(count(*) as text) || ' ' || cast(coalesce(max(fence), 0) as text) || ' ' || cast(coalesce(sum(expires_at), 0) as text)`.as(
        'signature',
      ),
    )
    .executeTakeFirstOrThrow();
  return signature;
}
