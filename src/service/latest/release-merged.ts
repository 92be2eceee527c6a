import { sql } from 'kysely';
import { foldCase } from '../../interface/fold-case.ts';
import { parseBranchName } from '../git/branch-name.ts';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import type { Locks } from '../locks/locks.ts';
import type { Storage } from '../storage/storage.ts';
import { enqueue } from '../syncs/queue.ts';
import type { ReleaseMerged } from '../syncs/sync-worker.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';

interface MergedParts {
  readonly storage: Storage;
  readonly git: Pick<Git, 'listDifferences' | 'relationOf'>;
  readonly locks: Pick<Locks, 'commitReleases'>;
  readonly onError: (error: unknown) => void;
}

interface ChangedFiles {
  readonly paths: ReadonlySet<string>;
  readonly folded: ReadonlySet<string>;
}

const limits = { timeoutMs: 30_000 };

const releaser = { name: 'the service', tokenId: null, address: null, owner: null, force: false };

/**
 * Ends the locks of people whose file differs between two heads of the branch: the head at the time of the lock, as the
 * first sync that started after it fetched it, and the head now. Such a sync is queued soon after the lock, and a
 * change before its end does not count: a lock that lasts too long is better than one that ends too early. After a
 * forced push, the comparison begins again at the new head, unless the push only took commits back, which may return.
 */
export function createReleaseMerged({ storage, git, locks, onError }: MergedParts): ReleaseMerged {
  const { read, now } = storage;

  /** None if the setting of the workspace names another branch. */
  const personalLocks = (workspace: string, branch: string) =>
    read
      .selectFrom('locks')
      .innerJoin('workspaces', 'workspaces.id', 'workspace_id')
      .select(['locks.id', 'path', 'folded_path', 'merge_base', 'acquired_at'])
      .where('workspace_id', '=', workspace)
      .where('release_on', '=', branch)
      .where('until_merged', '=', 1)
      .where(sql<boolean>`expires_at > ${now}`)
      .execute();

  /** The files that have changed since the base; none after a forced push. Undefined if the base stays. */
  async function changedSince(workspace: string, base: string, head: string): Promise<ChangedFiles | undefined> {
    try {
      const relation = await git.relationOf(workspace, { from: base, to: head, limits });
      if (relation === 'behind') return undefined;
      const query = { from: base, to: head, limits };
      const paths = relation === 'ahead' ? await git.listDifferences(workspace, query) : new Set<string>();
      return { paths, folded: new Set([...paths].map(foldCase)) };
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      // The next sync compares again.
      onError(error);
      return undefined;
    }
  }

  /** Locks whose base becomes the new head, and locks whose file has changed. Other locks stay as they are. */
  async function classifyLocks({ workspace, branch, head, startedAt }: Parameters<ReleaseMerged>[0]) {
    const moved: string[] = [];
    const merged: { readonly id: string; readonly path: string }[] = [];
    const changes = new Map<string, ChangedFiles | undefined>();
    for (const { id, path, folded_path, merge_base: base, acquired_at } of await personalLocks(workspace, branch)) {
      if (base === head || (base === null && acquired_at >= startedAt)) continue;
      if (base === null) {
        moved.push(id);
        continue;
      }
      if (!changes.has(base)) changes.set(base, await changedSince(workspace, base, head));
      const changed = changes.get(base);
      if (changed === undefined) continue;
      const isMerged = changed.paths.has(path) || (folded_path !== null && changed.folded.has(folded_path));
      if (isMerged) merged.push({ id, path });
      else moved.push(id);
    }
    return { moved, merged };
  }

  return async (sync) => {
    const { workspace, branch, head } = sync;
    const mergedInto = parseBranchName(branch);
    if (!mergedInto.ok) return;
    const { moved, merged } = await classifyLocks(sync);
    if (moved.length + merged.length === 0) return;
    await locks.commitReleases(workspace, async (db, release) => {
      // The setting may have changed since then, and with it the bases.
      if ((await findWorkspace(db, workspace))?.release_on !== branch) return;
      for (let offset = 0; offset < moved.length; offset += maxIdsAtOnce) {
        const ids = moved.slice(offset, offset + maxIdsAtOnce);
        await db
          .updateTable('locks')
          .set({ merge_base: head })
          .where('workspace_id', '=', workspace)
          .where('id', 'in', ids)
          .execute();
      }
      await release(
        merged.map(({ id, path }) => ({
          workspace,
          path,
          match: (held) => held === id,
          releaser,
          mergedInto: mergedInto.value,
        })),
      );
    });
  };
}

const maxIdsAtOnce = 500;

const maxRetryMs = 6 * 60 * 60_000;

/**
 * Called periodically. Queues a sync of the branch for new locks of people, unless one started after the lock. After a
 * failed one, it waits as long as from the lock to that failure, at most 6 hours.
 */
export async function queueSyncsForBases({ read, now, commit }: Storage): Promise<void> {
  const waiting = await read
    .selectFrom('locks')
    .innerJoin('workspaces', 'workspaces.id', 'workspace_id')
    .select(['workspace_id as workspace', 'release_on as branch'])
    .distinct()
    // Literal values, so that the index locks_without_base applies.
    .where(sql<boolean>`until_merged = 1 and merge_base is null`)
    .where('release_on', 'is not', null)
    .where(sql<boolean>`expires_at > ${now}`)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('syncs')
            .select('syncs.id')
            .whereRef('syncs.workspace_id', '=', 'locks.workspace_id')
            .whereRef('syncs.branch', '=', 'release_on')
            .whereRef('syncs.created_at', '>', 'acquired_at')
            // One that succeeded has noted its head, unless the setting named another branch at that time.
            .where(
              sql<boolean>`(finished_at is null or (status = 'failed'
                and finished_at > ${now} - ${sql.lit(maxRetryMs)} and 2 * finished_at - acquired_at > ${now}))`,
            ),
        ),
      ),
    )
    .execute();
  for (const { workspace, branch } of waiting) {
    if (branch === null) continue;
    await commit({ workspace }, (db) =>
      enqueue(db, now, { workspace, branch, estimatedObjects: 0, requestedBy: 'a lock' }),
    );
  }
}
