import type { BranchName } from '../git/branch-name.ts';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import type { RemoteBranches } from '../git/remote-branches.ts';
import type { Storage } from '../storage/storage.ts';
import type { Remotes } from '../workspaces/remotes.ts';
import type { StoredWorkspace } from '../workspaces/workspaces.ts';
import { findQueued } from './queue.ts';

/** A trigger is answered within 5 s, whatever the remote does; a little of it is for the database. */
const patienceMs = 4_700;

export interface TriggerParts {
  readonly storage: Storage;
  readonly git: Git;
  readonly remotes: Remotes;
}

export type Preparation =
  | { readonly kind: 'ready'; readonly estimatedObjects: number }
  | { readonly kind: 'unknown-branch'; readonly known: readonly string[] };

export type PrepareSync = (workspace: StoredWorkspace, branch: BranchName) => Promise<Preparation>;

/** Out of time is out of time: no limit is below zero. */
const timeLeft = (deadline: number): number => Math.max(1, deadline - performance.now());

/** Those who ask for the same while it is being found out share what is found. */
function shareRunning<T>(): (key: string, find: () => Promise<T>) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  return (key, find) => {
    const before = running.get(key);
    if (before !== undefined) return before;
    const found = find().finally(() => running.delete(key));
    running.set(key, found);
    return found;
  };
}

/** Finds out whether the remote has the branch, and what a fetch of it will transfer, as far as it tells in time. */
export function createPrepareSync({ storage, git, remotes }: TriggerParts): PrepareSync {
  const shareListing = shareRunning<RemoteBranches>();
  const shareEstimate = shareRunning<number>();

  async function listing(workspace: StoredWorkspace, branch: BranchName, deadline: number): Promise<RemoteBranches> {
    const list = () => remotes.branches(workspace, { timeoutMs: timeLeft(deadline) });
    const shared = await shareListing(workspace.id, list);
    // A listing that had begun before this request may be older than the branch.
    return shared.branches.has(branch) ? shared : list();
  }

  async function estimate(workspace: StoredWorkspace, branch: BranchName, deadline: number): Promise<number> {
    const { objects } = await remotes.estimate(workspace, branch, { timeoutMs: timeLeft(deadline) });
    return objects;
  }

  async function ask(workspace: StoredWorkspace, branch: BranchName, deadline: number): Promise<Preparation> {
    const { branches } = await listing(workspace, branch, deadline);
    const head = branches.get(branch);
    if (head === undefined) return { kind: 'unknown-branch', known: [...branches.keys()] };
    if ((await git.head(workspace.id, branch)) === head) return { kind: 'ready', estimatedObjects: 0 };
    const estimatedObjects = await shareEstimate(`${workspace.id} ${branch}`, () =>
      estimate(workspace, branch, deadline),
    );
    return { kind: 'ready', estimatedObjects };
  }

  async function previousCount(workspace: StoredWorkspace, branch: BranchName): Promise<Preparation> {
    const row = await storage.read
      .selectFrom('synced_branches')
      .select('received_objects')
      .where('workspace_id', '=', workspace.id)
      .where('name', '=', branch)
      .executeTakeFirst();
    return { kind: 'ready', estimatedObjects: row?.received_objects ?? 0 };
  }

  return async (workspace, branch) => {
    const queued = await findQueued(storage.read, workspace.id, branch);
    // It will be joined, so the remote need not be asked again: a storm of triggers is one question.
    if (queued !== undefined) return { kind: 'ready', estimatedObjects: queued.estimated_objects };

    let outOfTime: NodeJS.Timeout | undefined;
    const waited = new Promise<undefined>((resolve) => {
      outOfTime = setTimeout(resolve, patienceMs, undefined);
    });
    // A remote that cannot be asked now may answer when the sync runs; if not, the sync fails and says why.
    const asked = ask(workspace, branch, performance.now() + patienceMs).catch((error: unknown) => {
      if (error instanceof GitError) return undefined;
      throw error;
    });
    // Once time is out, nobody is there to be told of what else goes wrong.
    asked.catch(() => undefined);
    try {
      return (await Promise.race([asked, waited])) ?? (await previousCount(workspace, branch));
    } finally {
      clearTimeout(outOfTime);
    }
  };
}
