import { sql } from 'kysely';
import type { Actor } from '../audit/audit.ts';
import { removeInPieces } from '../storage/remove-old.ts';
import type { Storage } from '../storage/storage.ts';
import { countHeldLocks, type Removal, removeWorkspaceAudited } from './workspaces.ts';

/** Each transaction holds up the changes of a service next to this command for some 10 ms. */
const atOnce = 500;

/**
 * Removes a workspace with all that belongs to it. Its history may have millions of rows, and in one transaction they would
 * keep every other change waiting: they go in pieces before the workspace does, and stop going when somebody takes a lock.
 */
export async function removeWorkspaceInPieces(storage: Storage, actor: Actor, workspace: string): Promise<Removal> {
  const { read, now } = storage;
  const isUnlocked = async (db: Storage['read']) => (await countHeldLocks(db, now, workspace)) === 0;
  const ofWorkspace = sql`workspace_id = ${workspace}`;
  const hooks = await read.selectFrom('hooks').select('id').where('workspace_id', '=', workspace).execute();
  const large = [
    { table: 'locks', time: 'expires_at', where: sql`${ofWorkspace} and expires_at <= (select ${now})` },
    { table: 'lock_history', time: 'at', where: ofWorkspace },
    { table: 'remembered_answers', time: 'created_at', where: ofWorkspace },
    { table: 'syncs', time: 'created_at', where: sql`${ofWorkspace} and finished_at is not null` },
    ...hooks.map(({ id }) => ({ table: 'deliveries', time: 'sequence', where: sql`hook_id = ${id}` }) as const),
  ] as const;
  for (const { table, time, where } of large) {
    await removeInPieces(storage, { table, time, workspace, atOnce }, where, isUnlocked);
  }
  return storage.commit({ workspace }, (db) => removeWorkspaceAudited(db, now, actor, workspace));
}
