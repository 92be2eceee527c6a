import { sql } from 'kysely';
import type { Actor } from '../audit/audit.ts';
import { releaseLocks } from '../locks/change-lock.ts';
import { listLocks } from '../locks/list.ts';
import { removeInBatches } from '../storage/remove-old.ts';
import type { Storage } from '../storage/storage.ts';
import { closeWorkspace } from './workspaces.ts';

/** A transaction of this size blocks other changes, such as those of a running service, for about 10 ms. */
const atOnce = 500;

/** Smaller, because each lock takes several rows: its audit entry, its history, and a delivery for each hook. */
const locksAtOnce = 50;

/**
 * Removes a workspace with all its data. Its history may have millions of rows, and removing them in one transaction
 * would block every other change: the workspace is closed, its rows are removed in batches, and then itself. If that is
 * interrupted, a repeated call continues. With `force`, its locks are ended first, including those that are taken in the
 * meantime.
 */
export async function removeWorkspaceInBatches(
  storage: Storage,
  actor: Actor,
  workspace: string,
  { force = false } = {},
) {
  const { read, now, commit, broadcast } = storage;
  let ended = 0;
  for (let isClosed = false; !isClosed; ) {
    const { endedNow, closing } = await commit({ workspace }, async (db) => {
      const endedNow = force ? await endLocks({ ...storage, read: db }, actor, workspace) : 0;
      if (endedNow === locksAtOnce) return { endedNow };
      return { endedNow, closing: await closeWorkspace(db, now, actor, workspace, ended + endedNow) };
    });
    ended += endedNow;
    if (endedNow > 0) await broadcast.send(undefined);
    isClosed = closing?.kind === 'closed';
    // A lock may expire between its listing and its end.
    const isStuck = closing?.kind === 'unknown' || endedNow === 0;
    if (closing !== undefined && closing.kind !== 'closed' && isStuck) return closing;
  }
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
    // What requests that had begun have added. A stored response would be wrong for a later workspace with this id.
    await db.deleteFrom('locks').where('workspace_id', '=', workspace).execute();
    await db.deleteFrom('remembered_answers').where('workspace_id', '=', workspace).execute();
    await db.deleteFrom('workspaces').where('id', '=', workspace).execute();
  });
  return { kind: 'removed', ended } as const;
}

/** Ends some of the locks like a forced release, with the same records, and returns their number. */
async function endLocks(storage: Storage, actor: Actor, workspace: string): Promise<number> {
  const { locks } = await listLocks(storage, { workspace, limit: locksAtOnce });
  const releaser = { ...actor, owner: null, force: true, reason: 'The workspace was removed.' };
  const requests = locks.map(({ path }) => ({ workspace, path, match: () => true, releaser }));
  const decisions = await releaseLocks(storage.read, storage.now, requests);
  return decisions.filter(({ kind }) => kind === 'released').length;
}
