import { setTimeout as sleep } from 'node:timers/promises';
import type { BranchName } from '../git/branch-name.ts';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { createOnce } from '../runtime/once.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import type { RemoteMemory } from '../workspaces/remote-memory.ts';
import type { Remotes } from '../workspaces/remotes.ts';
import { syncedBranches } from '../workspaces/synced-branches.ts';
import { noteVanished, removeBranch } from '../workspaces/vanished-branches.ts';
import type { StoredWorkspace } from '../workspaces/workspaces.ts';
import { enqueue, findQueued, type QueuedSync, syncsIn } from './queue.ts';

/** A trigger is answered within 5 s, even if the remote does not respond. The rest of this time is for the database. */
const timeoutMs = 4_700;

export interface TriggerParts {
  readonly storage: Storage;
  readonly git: Git;
  readonly remotes: Pick<Remotes, 'estimate'>;
  readonly remoteMemory: Pick<RemoteMemory, 'askAgain'>;
}

export type Preparation =
  | { readonly kind: 'ready'; readonly estimatedObjects: number }
  /** `reason` is a sentence for users. */
  | { readonly kind: 'unknown-branch'; readonly reason: string };

export type PrepareSync = (workspace: StoredWorkspace, branch: BranchName) => Promise<Preparation>;

/** Checks that the remote has the branch, and estimates the size of a fetch within the time limit. */
export function createPrepareSync({ storage, git, remotes, remoteMemory }: TriggerParts): PrepareSync {
  const once = createOnce<Preparation | undefined>();

  /** Undefined if the remote does not answer. */
  async function ask(
    workspace: StoredWorkspace,
    branch: BranchName,
    deadline: number,
  ): Promise<Preparation | undefined> {
    const before = await syncedBranches(storage, workspace.id);
    const { listing, failure } = await remoteMemory.askAgain(workspace);
    if (failure !== undefined) return undefined;
    const { branches, defaultBranch } = listing;
    await noteVanished(storage, workspace.id, before, branches);
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
      return { kind: 'unknown-branch', reason: `${reason} ${some([...branches.keys()])}` };
    }
    const syncedHead = await git.head(workspace.id, branch);
    if (defaultBranch !== undefined) await git.setDefaultBranch(workspace.id, defaultBranch);
    if (syncedHead === head) return missingOf(workspace, branch);
    const timeoutMs = deadline - performance.now();
    if (timeoutMs <= 0) return undefined;
    return { kind: 'ready', estimatedObjects: await remotes.estimate(workspace, branch, { timeoutMs }) };
  }

  /** Shares a running preparation. If that began too early to know the branch, its callers share one new preparation. */
  async function share(key: string, find: () => ReturnType<typeof ask>): ReturnType<typeof ask> {
    let own = false;
    const prepared = await once(key, () => {
      own = true;
      return find();
    });
    return own || prepared?.kind !== 'unknown-branch' ? prepared : once(key, find);
  }

  /** LFS objects that the last sync could not fetch are retried even if git has nothing new. */
  async function missingOf(workspace: StoredWorkspace, branch: BranchName): Promise<Preparation> {
    const last = await syncsIn(storage.read, workspace.id)
      .where('branch', '=', branch)
      .where('status', '=', 'succeeded')
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    return { kind: 'ready', estimatedObjects: last?.missing_objects ?? 0 };
  }

  return async (workspace, branch) => {
    const queued = await findQueued(storage.read, workspace.id, branch);
    // The trigger joins the queued sync without a request to the remote, so that many triggers cause only one request.
    if (queued !== undefined) return { kind: 'ready', estimatedObjects: queued.estimated_objects };

    // Errors of the remote are ignored here: it may respond when the sync runs. Otherwise the sync fails with the
    // reason.
    const deadline = performance.now() + timeoutMs;
    const asked = share(`${workspace.id} ${branch}`, () => ask(workspace, branch, deadline)).catch((error: unknown) => {
      if (error instanceof GitError) return undefined;
      throw error;
    });
    // Nothing handles an error after the deadline, which would end the process.
    asked.catch(() => undefined);
    const inTime = await Promise.race([asked, sleep(timeoutMs, undefined, { ref: false })]);
    return inTime ?? previousCount(storage.read, workspace, branch);
  };
}

/** The objects that the last sync of the branch received: an estimate without a request to the remote. */
export async function previousCount(db: Database, workspace: StoredWorkspace, branch: BranchName) {
  const row = await db
    .selectFrom('synced_branches')
    .select('received_objects')
    .where('workspace_id', '=', workspace.id)
    .where('name', '=', branch)
    .executeTakeFirst();
  return { kind: 'ready' as const, estimatedObjects: row?.received_objects ?? 0 };
}

/** Queues a sync that was prepared before this transaction. The caller wakes the worker afterwards. */
export async function startPrepared(
  db: Database,
  now: Now,
  wanted: Omit<QueuedSync, 'estimatedObjects'>,
  preparation: Preparation,
) {
  if (preparation.kind === 'unknown-branch') return preparation;
  const { estimatedObjects } = preparation;
  return { kind: 'queued' as const, sync: await enqueue(db, now, { ...wanted, estimatedObjects }) };
}

const maxNamed = 5;

const some = (names: readonly string[]): string =>
  names.length === 0
    ? 'has none yet.'
    : `has ${names.slice(0, maxNamed).join(', ')}${names.length > maxNamed ? ` and ${names.length - maxNamed} more` : ''}.`;
