import { joinFirst } from '../../interface/format.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { withinMs } from '../../interface/timers.ts';
import type { BranchName } from '../git/branch-name.ts';
import { GitError } from '../git/git-error.ts';
import { createOnce } from '../runtime/once.ts';
import type { Database, Storage } from '../storage/storage.ts';
import { type RemoteMemory, remoteKey } from '../workspaces/remote-memory.ts';
import type { Remotes } from '../workspaces/remotes.ts';
import { syncedBranches } from '../workspaces/synced-branches.ts';
import { noteVanished, removeBranch } from '../workspaces/vanished-branches.ts';
import type { StoredWorkspace } from '../workspaces/workspaces.ts';
import { findQueued, syncsIn } from './queue.ts';

/** A trigger is answered within 5 s, even if the remote does not respond. The rest of this time is for the database. */
const timeoutMs = 4_700;

interface TriggerParts {
  readonly storage: Storage;
  readonly remotes: Pick<Remotes, 'estimate'>;
  readonly remoteMemory: Pick<RemoteMemory, 'askAgain'>;
}

export type PrepareSync = (workspace: StoredWorkspace, branch: BranchName) => Promise<Parsed<number>>;

/**
 * Checks that the remote has the branch, and estimates the number of objects to fetch, within the time limit. A branch
 * that was synced before needs no request for that: its last sync received about as many.
 */
export function createPrepareSync({ storage, remotes, remoteMemory }: TriggerParts): PrepareSync {
  const shareListing = createSharedRun<Awaited<ReturnType<typeof listRemote>>>();
  const sharePreparation = createSharedRun<Parsed<number> | undefined>();

  /** Undefined if the remote does not answer. */
  async function listRemote(workspace: StoredWorkspace) {
    const before = await syncedBranches(storage, workspace.id);
    const { listing, failure } = await remoteMemory.askAgain(workspace);
    if (failure !== undefined) return undefined;
    await noteVanished(storage, workspace.id, before, listing.branches);
    return { ...listing, before };
  }

  async function prepare(workspace: StoredWorkspace, branch: BranchName, deadline: number) {
    const listed = await shareListing(
      remoteKey(workspace),
      () => listRemote(workspace),
      // The branch may have been pushed after the listing started, unless it shows something new.
      (found) => {
        const head = found?.branches.get(branch);
        return found === undefined || (head !== undefined && head !== found.before.get(branch)?.head);
      },
    );
    if (listed === undefined) return undefined;
    const { branches, before } = listed;
    const head = branches.get(branch);
    if (head === undefined) {
      const synced = before.get(branch);
      if (synced !== undefined) {
        await removeBranch(storage, { workspace_id: workspace.id, name: branch, synced_at: synced.syncedAt });
      }
      const reason =
        synced === undefined
          ? `The remote has no branch ${branch}. It`
          : `The remote no longer has the branch ${branch}, so the mirror stopped serving it. The remote`;
      return refused(`${reason} ${branchesText([...branches.keys()])}`);
    }
    if (before.get(branch)?.head === head) return accepted(await missingOf(workspace, branch));
    const timeoutMs = deadline - performance.now();
    if (timeoutMs <= 0 || before.has(branch)) return undefined;
    return accepted(await remotes.estimate(workspace, branch, { timeoutMs }));
  }

  /** LFS objects that the last sync could not fetch are retried even if git has nothing new. */
  async function missingOf(workspace: StoredWorkspace, branch: BranchName): Promise<number> {
    const last = await syncsIn(storage.read, workspace.id)
      .where('branch', '=', branch)
      .where('status', '=', 'succeeded')
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    return last?.missing_objects ?? 0;
  }

  return async (workspace, branch) => {
    const queued = await findQueued(storage.read, workspace.id, branch);
    // The trigger joins the queued sync without a request to the remote, so that many triggers cause only one request.
    if (queued !== undefined) return accepted(queued.estimated_objects);

    // Errors of the remote are ignored here: it may respond when the sync runs. Otherwise the sync fails with the
    // reason.
    const deadline = performance.now() + timeoutMs;
    const asked = sharePreparation(
      remoteKey(workspace, branch),
      () => prepare(workspace, branch, deadline),
      // The branch may have been pushed after the listing started, unless it shows something new.
      (prepared) => prepared === undefined || (prepared.ok && prepared.value > 0),
    ).catch((error: unknown) => {
      if (error instanceof GitError) return undefined;
      throw error;
    });
    return (
      (await withinMs(asked, timeoutMs, undefined)) ?? accepted(await previousCount(storage.read, workspace, branch))
    );
  };
}

/** Shares running work. If it started too early to know what a caller needs, such callers share its next run. */
function createSharedRun<T>() {
  const once = createOnce<T>();
  return async (key: string, find: () => Promise<T>, isEnough: (found: T) => boolean): Promise<T> => {
    let own = false;
    const found = await once(key, () => {
      own = true;
      return find();
    });
    return own || isEnough(found) ? found : once(key, find);
  };
}

/** The objects that the last sync of the branch received: an estimate without a request to the remote. */
export async function previousCount(db: Database, workspace: StoredWorkspace, branch: BranchName): Promise<number> {
  const row = await db
    .selectFrom('synced_branches')
    .select('received_objects')
    .where('workspace_id', '=', workspace.id)
    .where('name', '=', branch)
    .executeTakeFirst();
  return row?.received_objects ?? 0;
}

const branchesText = (names: readonly string[]): string =>
  names.length === 0 ? 'has none yet.' : `has ${joinFirst(names)}.`;
