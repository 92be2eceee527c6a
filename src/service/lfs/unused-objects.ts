import type { Logger } from 'pino';
import type { Git } from '../git/git.ts';
import type { Storage } from '../storage/storage.ts';
import { syncedBranches } from '../workspaces/synced-branches.ts';
import type { ListedObject, ObjectStore, StoreOwner } from './object-store.ts';
import { type Oid, referencedObjects } from './pointer.ts';

interface UnusedObjectsParts {
  readonly storage: Pick<Storage, 'read'>;
  readonly git: Pick<Git, 'smallBlobs' | 'missingCommits'>;
  readonly objectsOf: (workspace: StoreOwner) => ObjectStore;
  readonly log: Logger;
  readonly stopping: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** Objects that no head of a synced branch needs are kept for this long after their last use. */
export const keptUnusedMs = 14 * 24 * 60 * 60 * 1_000;

/** Time limit for listing all objects of a branch. */
const timeoutMs = 10 * 60_000;

/** Removes objects that nothing needs from the disk of this instance. If it fails, the next round retries. */
export async function removeUnusedObjects(parts: UnusedObjectsParts): Promise<void> {
  const { storage, log, stopping, onError } = parts;
  for (const workspace of await storage.read.selectFrom('workspaces').select(['id', 'created_at']).execute()) {
    try {
      const removed = await removeUnusedOf(parts, workspace);
      if (removed > 0)
        log.info({ workspace: workspace.id, objects: removed }, 'removed LFS objects that nothing needs');
    } catch (error) {
      if (stopping.aborted) return;
      onError(error);
    }
  }
}

/** Returns the number of removed objects. */
async function removeUnusedOf(parts: UnusedObjectsParts, workspace: StoreOwner): Promise<number> {
  const { objectsOf, stopping, onError } = parts;
  const store = objectsOf(workspace);
  const unusedSince = Date.now() - keptUnusedMs;
  const unused: ListedObject[] = [];
  for await (const object of store.list()) {
    stopping.throwIfAborted();
    if (object.lastUsedAt < unusedSince) unused.push(object);
  }
  const needed = unused.length > 0 ? await neededObjects(parts, workspace.id) : undefined;
  if (needed === undefined) return 0;
  let removed = 0;
  for (const object of unused) {
    stopping.throwIfAborted();
    // The object may have been used since the list was read.
    const isUnused = !needed.has(object.oid) && ((await store.find(object.oid))?.lastUsedAt ?? 0) < unusedSince;
    if (isUnused && (await store.remove(object.oid).then(() => true, onError))) removed += 1;
  }
  return removed;
}

/** Objects that heads of synced branches need; undefined if this instance lacks a head that another instance synced. */
async function neededObjects(
  { storage, git, stopping: signal }: UnusedObjectsParts,
  workspace: string,
): Promise<ReadonlySet<Oid> | undefined> {
  const heads = new Set([...(await syncedBranches(storage, workspace)).values()].map(({ head }) => head));
  if ((await git.missingCommits(workspace, heads)).size > 0) return undefined;
  const needed = new Set<Oid>();
  for (const head of heads) {
    for (const { oid } of await referencedObjects(git, workspace, head, { timeoutMs, signal })) needed.add(oid);
  }
  return needed;
}
