import { sql } from 'kysely';
import type { Actor } from '../audit/audit.ts';
import { removeInBatches } from '../storage/remove-old.ts';
import type { Storage } from '../storage/storage.ts';
import { closeWorkspace } from './workspaces.ts';

/** A transaction of this size blocks other changes, such as those of a running service, for about 10 ms. */
const atOnce = 500;

/**
 * Removes a workspace with all its data. The history may have millions of rows, and removing them in one transaction
 * would block every other change. So the workspace is closed, its rows are removed in batches, and then the workspace
 * itself. After an interruption, the next call continues.
 */
export async function removeWorkspaceInBatches(storage: Storage, actor: Actor, workspace: string) {
  const { read, commit } = storage;
  const closing = await commit({ workspace }, (db) => closeWorkspace(db, actor, workspace));
  if (closing.kind !== 'closed') return closing;
  const ofWorkspace = sql`workspace_id = ${workspace}`;
  const hooks = await read.selectFrom('hooks').select('id').where('workspace_id', '=', workspace).execute();
  const large = [
    { table: 'locks', time: 'expires_at', where: ofWorkspace },
    { table: 'lock_history', time: 'ended_at', where: ofWorkspace },
    { table: 'remembered_answers', time: 'created_at', where: ofWorkspace },
    { table: 'syncs', time: 'created_at', where: sql`${ofWorkspace} and finished_at is not null` },
    ...hooks.map(({ id }) => ({ table: 'deliveries', time: 'sequence', where: sql`hook_id = ${id}` }) as const),
  ] as const;
  for (const { table, time, where } of large) {
    await removeInBatches(storage, { table, time, workspace, atOnce }, where);
  }
  await commit({ workspace }, async (db) => {
    // Removes what requests in progress have added. A later workspace with this id must not get a stored response.
    await db.deleteFrom('locks').where('workspace_id', '=', workspace).execute();
    await db.deleteFrom('remembered_answers').where('workspace_id', '=', workspace).execute();
    await db.deleteFrom('workspaces').where('id', '=', workspace).execute();
  });
  return { kind: 'removed' } as const;
}
