import type { BranchName } from '../../interface/branch-name.ts';
import { milliseconds } from '../../interface/duration.ts';
import { withinMs } from '../../interface/timers.ts';
import type { BranchHeads } from '../git/bare-repository.ts';
import { withFreeDisk } from '../git/git-command.ts';
import { GitError } from '../git/git-error.ts';
import type { Instance } from '../instance/instance.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import { createOnce } from '../runtime/once.ts';
import { remember } from '../runtime/remember.ts';
import type { FetchObjects } from '../syncs/wanted-objects.ts';
import { remoteOf } from '../workspaces/remotes.ts';
import { syncedBranches } from '../workspaces/synced-branches.ts';
import type { FoundWorkspace, StoredWorkspace } from '../workspaces/workspaces.ts';

interface PullThroughParts extends Pick<Instance, 'storage' | 'allowFileRemotes' | 'syncTimeout' | 'log'> {
  readonly git: Pick<Instance['git'], 'missingCommits' | 'fetchCommits'>;
  readonly freeDisk: Pick<Instance['freeDisk'], 'isLow' | 'reserve'>;
  readonly fetchObjects: FetchObjects;
  readonly stopping: AbortSignal;
}

export type PullThrough = ReturnType<typeof createPullThrough>;

/** With the waits of a clone, still less than the minute after which proxies close a silent connection. */
const maxWaitMs = 10_000;

export const retryPullAfterSeconds = 5;

const stillFetching = 'The service is still fetching this from the remote. Try again in a few seconds.';

/** More than syncs, because some remotes may not respond. Objects have as many of their own, because they may take hours. */
const maxRuns = 8;

/** As many as a remote may have branches. */
const maxSettled = 100_000;
/**
 * How long the objects of a head are not looked for again: at least; at most, after the store could not be used; and if
 * all are here, which is shorter than the time after which unused objects are removed.
 */
const settledForMs = { least: 60_000, failed: 15 * 60_000, complete: 24 * 60 * 60_000 };

/**
 * The database decides what is mirrored. This instance may lack some of it, because another instance ran the sync or
 * its disk was lost. It is then fetched from the remote on the first request, once for all clients, with the limits of
 * a sync. The functions return a reason for the client if something is still missing, and undefined otherwise.
 */
export function createPullThrough(parts: PullThroughParts) {
  const { git, freeDisk, stopping, log } = parts;
  const limits = { timeoutMs: milliseconds(parts.syncTimeout), signal: stopping };
  // One per workspace: the next one may find that nothing is missing any more.
  const limitCommits = limitParallel({ max: maxRuns, maxPerKey: 1 });
  const limitObjects = limitParallel({ max: maxRuns, maxPerKey: 1 });
  /** Work that all callers share, and that does not end with the request that started it. */
  const once = createOnce<void>();

  /** By head and settings: the time until which its objects are not looked for again. */
  const settled = new Map<string, number>();

  async function lackingOf({ id }: StoredWorkspace, heads: BranchHeads): Promise<BranchHeads> {
    const missing = await git.missingCommits(id, heads.values());
    return new Map([...heads].filter(([, head]) => missing.has(head)));
  }

  /** Rejects with a GitError if the remote cannot be used. */
  const pullCommits = (workspace: StoredWorkspace, heads: BranchHeads): Promise<void> =>
    once(JSON.stringify([workspace.id, workspace.remote, ...heads]), () =>
      limitCommits(workspace.id, async () => {
        const lacking = await lackingOf(workspace, heads);
        if (lacking.size === 0) return;
        const remote = remoteOf(workspace, parts.allowFileRemotes);
        await withFreeDisk(freeDisk, limits, (limits) => git.fetchCommits(workspace.id, remote, lacking, limits));
        log.info({ workspace: workspace.id, branches: lacking.size }, 'fetched branches that this instance lacked');
      }),
    );

  async function tryToPull(workspace: StoredWorkspace, lacking: BranchHeads): Promise<string | undefined> {
    try {
      await pullCommits(workspace, lacking);
    } catch (error) {
      logFailure(parts, workspace, error);
      const [branch] = lacking.keys();
      return `This instance could not fetch the branch ${branch} from the remote. Try again in a minute.`;
    }
    const [gone] = await lackingOf(workspace, lacking);
    if (gone === undefined) return undefined;
    const [branch, head] = gone;
    return `The remote no longer has the commit ${head} of the branch ${branch}. Sync the branch again, or another one if it was deleted.`;
  }

  /** Fetches the objects of one of `heads` heads, unless that was tried a short while ago, or all of them are here. */
  async function pullObjects(workspace: FoundWorkspace, branch: BranchName, head: string, heads: number) {
    const { id, created_at, remote: address, lfs_url, lfs_mode } = workspace;
    const key = JSON.stringify(['objects', id, created_at, head, address, lfs_url, lfs_mode]);
    if ((settled.get(key) ?? 0) > performance.now()) return;
    await once(key, () =>
      limitObjects(id, async () => {
        const startedAt = performance.now();
        let receivedAt: number | undefined;
        let maxMs = settledForMs.failed;
        let isComplete = false;
        try {
          await pullCommits(workspace, new Map([[branch, head]]));
          const remote = remoteOf(workspace, parts.allowFileRemotes);
          const wanted = { workspace: id, branch, head, remote, settings: workspace };
          const { missing } = await parts.fetchObjects(wanted, limits, ({ received }) => {
            if (received.bytes > 0) receivedAt ??= performance.now();
          });
          maxMs = settledForMs.complete;
          isComplete = missing.count === 0;
        } catch (error) {
          logFailure(parts, workspace, error);
        }
        const endedAt = performance.now();
        // For longer than it takes to look at all heads, so that requests for unknown objects do not wait forever.
        const forMs = settledForMs.least + heads * ((receivedAt ?? endedAt) - startedAt);
        remember(settled, key, endedAt + (isComplete ? maxMs : Math.min(forMs, maxMs)), maxSettled);
      }),
    );
  }

  async function pullObjectsUntil(workspace: FoundWorkspace, areHere: () => Promise<boolean>): Promise<undefined> {
    const synced = await syncedBranches(parts.storage, workspace.id);
    // Jobs mostly request objects of the branch that was synced last.
    for (const [branch, { head }] of [...synced].toSorted(([, one], [, other]) => other.syncedAt - one.syncedAt)) {
      await pullObjects(workspace, branch, head, synced.size);
      if (await areHere()) return;
    }
  }

  return {
    async commits(workspace: StoredWorkspace, heads: BranchHeads, waitMs = maxWaitMs): Promise<string | undefined> {
      const lacking = await lackingOf(workspace, heads);
      return lacking.size === 0 ? undefined : withinMs(tryToPull(workspace, lacking), waitMs, stillFetching);
    },
    /** Fetches LFS objects of synced branches, until the client's are here or none are left to fetch. */
    objects: (workspace: FoundWorkspace, areHere: () => Promise<boolean>): Promise<string | undefined> =>
      withinMs(pullObjectsUntil(workspace, areHere), maxWaitMs, stillFetching),
    /** Waits for processes that the signal ends. */
    stop: once.ended,
  };
}

/** Logs a failure of the remote. Rethrows other errors. */
function logFailure({ log, stopping }: PullThroughParts, { id }: StoredWorkspace, error: unknown): void {
  if (stopping.aborted) return;
  if (!(error instanceof GitError)) throw error;
  log.warn({ workspace: id, error: error.message }, 'could not fetch the missing parts of a mirror');
}
