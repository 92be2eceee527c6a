import type { BranchName } from '../../interface/branch-name.ts';
import { joinFirst } from '../../interface/format.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { withinMs } from '../../interface/timers.ts';
import { GitError } from '../git/git-error.ts';
import { createOnce } from '../runtime/once.ts';
import type { Storage } from '../storage/storage.ts';
import { type Remotes, remoteKey } from '../workspaces/remotes.ts';
import { removeBranches, type SyncedBranches, syncedBranches } from '../workspaces/synced-branches.ts';
import type { StoredWorkspace } from '../workspaces/workspaces.ts';
import { findQueued } from './queue.ts';

/** A trigger gets a response within 5 s, even if the remote does not respond. The rest of that is for the database. */
const timeoutMs = 4_700;

interface TriggerParts {
  readonly storage: Storage;
  readonly remotes: Pick<Remotes, 'askAgain' | 'estimate'>;
}

export type PrepareSync = (workspace: StoredWorkspace, branch: BranchName) => Promise<Parsed<number>>;

/**
 * Checks that the remote has the branch, and estimates the number of objects to fetch, within the time limit. From then
 * on, branches that the remote has deleted are no longer served.
 */
export function createPrepareSync({ storage, remotes }: TriggerParts): PrepareSync {
  const estimateOnce = createOnce<number>();

  /** Undefined if the remote does not answer. */
  async function prepare(workspace: StoredWorkspace, branch: BranchName, synced: SyncedBranches, deadline: number) {
    const { listing, failure } = await remotes.askAgain(workspace);
    if (failure !== undefined) return undefined;
    const { branches } = listing;
    const head = branches.get(branch);
    const listed = new Set<string>(branches.keys());
    // A remote without the requested branch may have lost others by mistake, which are kept.
    const vanished = [...synced].filter(([name]) => !listed.has(name) && (head !== undefined || name === branch));
    await removeBranches(storage, workspace.id, vanished);
    if (head === undefined) {
      const reason =
        vanished.length === 0
          ? `The remote has no branch ${branch}. It`
          : `The remote no longer has the branch ${branch}, so the mirror stopped serving it. The remote`;
      return refused(`${reason} ${branchesText([...branches.keys()])}`);
    }
    if (synced.get(branch)?.head === head) return accepted(0);
    const timeoutMs = deadline - performance.now();
    if (timeoutMs <= 0 || synced.has(branch)) return undefined;
    const estimate = () => remotes.estimate(workspace, branch, { timeoutMs });
    return accepted(await estimateOnce(remoteKey(workspace, branch), estimate));
  }

  return async (workspace, branch) => {
    const queued = await findQueued(storage.read, workspace.id, branch);
    // The trigger joins the queued sync, without a request to the remote.
    if (queued !== undefined) return accepted(queued.estimated_objects);

    const synced = await syncedBranches(storage, workspace.id);
    const preparing = prepare(workspace, branch, synced, performance.now() + timeoutMs).catch((error: unknown) => {
      // The remote may respond again when the sync runs. If not, the sync fails with the reason.
      if (error instanceof GitError) return undefined;
      throw error;
    });
    return (await withinMs(preparing, timeoutMs, undefined)) ?? accepted(synced.get(branch)?.receivedObjects ?? 0);
  };
}

const branchesText = (names: readonly string[]): string =>
  names.length === 0 ? 'has none yet.' : `has ${joinFirst(names)}.`;
