import { setTimeout as sleep } from 'node:timers/promises';
import type { BranchName } from '../git/branch-name.ts';
import type { Git } from '../git/git.ts';
import { createOnce } from '../runtime/once.ts';
import { remember } from '../runtime/remember.ts';
import type { Storage } from '../storage/storage.ts';
import { enqueue, findSync } from '../syncs/queue.ts';
import { branchStatuses } from '../workspaces/branch-state.ts';
import { comparedWith } from '../workspaces/latest.ts';
import type { RemoteMemory } from '../workspaces/remote-memory.ts';
import { type SyncedBranch, syncedBranches } from '../workspaces/synced-branches.ts';
import type { FoundWorkspace } from '../workspaces/workspaces.ts';

export interface RefreshParts {
  readonly storage: Storage;
  readonly git: Pick<Git, 'head'>;
  readonly remoteMemory: Pick<RemoteMemory, 'known' | 'ask'>;
  /** Called after a sync was queued. */
  readonly onQueued: () => void;
}

type RefreshMirror = ReturnType<typeof createRefreshMirror>;

/** The heads in the mirror of the branches that locks are compared with, and of the branch of a request. */
export type ComparedHeads = Awaited<ReturnType<RefreshMirror>>;

const timeoutMs = 5_000;
const pollMs = 200;
const maxRemembered = 1_000;

interface Refresh {
  readonly at: number;
  readonly isCurrent: boolean;
  /** Heads that the mirror has, although their syncs may still fetch LFS objects, or have failed to. */
  readonly fetched: ReadonlyMap<string, SyncedBranch>;
}

/** Brings the mirror up to date if that was tried longer ago than `maxAgeMs`, for at most a few seconds. */
export function createRefreshMirror({ storage, git, remoteMemory, onQueued }: RefreshParts) {
  const once = createOnce<Refresh>();
  /** A remote that is slow or silent is not waited for again within the same minute. */
  const refreshes = new Map<string, Refresh>();

  const countsIn = (workspace: FoundWorkspace) => {
    const { listing } = remoteMemory.known(workspace);
    return comparedWith(workspace, listing?.defaultBranch);
  };

  async function refresh(workspace: FoundWorkspace, branch: string | undefined, at: number): Promise<Refresh> {
    const deadline = performance.now() + timeoutMs;
    const fetched = new Map<string, SyncedBranch>();
    const asked = await Promise.race([remoteMemory.ask(workspace), sleep(timeoutMs, undefined, { ref: false })]);
    if (asked === undefined || asked.failure !== undefined) return { at, isCurrent: false, fetched };
    const { id } = workspace;
    const { askedAt, branches } = asked.listing;
    const counts = countsIn(workspace);
    const behind = branchStatuses(asked, await syncedBranches(storage, id)).filter(
      ({ name, state }) => (state === 'behind' || state === 'unsynced') && (name === branch || counts(name)),
    );
    async function isFetched(name: BranchName, listed: string): Promise<boolean> {
      const isThere = (await git.head(id, name)) === listed;
      if (isThere) fetched.set(name, { head: listed, syncedAt: askedAt });
      return isThere;
    }
    const syncs: { readonly name: BranchName; readonly listed: string; readonly syncId: string }[] = [];
    for (const [name, listed] of branches) {
      if (!behind.some((status) => status.name === name) || (await isFetched(name, listed))) continue;
      const wanted = { workspace: id, branch: name, estimatedObjects: 0, requestedBy: 'a lock request' };
      const sync = await storage.commit({ workspace: id }, (db) => enqueue(db, storage.now, wanted));
      syncs.push({ name, listed, syncId: sync.sync_id });
    }
    if (syncs.length > 0) onQueued();
    for (const { name, listed, syncId } of syncs) {
      for (;;) {
        const { status } = (await findSync(storage.read, id, syncId)) ?? { status: 'failed' };
        if (status === 'succeeded' || (await isFetched(name, listed))) break;
        if (status === 'failed' || performance.now() >= deadline) return { at, isCurrent: false, fetched };
        await sleep(pollMs);
      }
    }
    return { at, isCurrent: true, fetched };
  }

  async function lastRefresh(workspace: FoundWorkspace, branch: string | undefined, maxAgeMs: number) {
    const key = JSON.stringify([workspace.id, workspace.remote, branch]);
    const last = refreshes.get(key);
    const at = performance.now();
    if (last !== undefined && at - last.at <= maxAgeMs) return last;
    const done = await once(key, () => refresh(workspace, branch, at));
    remember(refreshes, key, done, maxRemembered);
    return done;
  }

  return async (workspace: FoundWorkspace, branch: string | undefined, maxAgeMs: number) => {
    const { at, isCurrent, fetched } = await lastRefresh(workspace, branch, maxAgeMs);
    const heads = new Map(await syncedBranches(storage, workspace.id));
    for (const [name, head] of fetched) {
      if ((heads.get(name)?.syncedAt ?? 0) < head.syncedAt) heads.set(name, head);
    }
    const counts = countsIn(workspace);
    const { listing } = remoteMemory.known(workspace);
    const listed: ReadonlyMap<string, string> | undefined = listing?.branches;
    // A branch that the remote no longer has does not count, unless a sync has found it since then.
    const considered = [...heads].filter(
      ([name, { syncedAt }]) =>
        (name === branch || counts(name)) &&
        (listing === undefined || listed?.has(name) || syncedAt >= listing.askedAt),
    );
    return {
      compared: new Map(considered.flatMap(([name, { head }]) => (counts(name) ? [[name, head]] : []))),
      own: branch === undefined ? undefined : heads.get(branch)?.head,
      /** Milliseconds, by the clock of the database; set if the mirror could not be brought up to date in time. */
      asOf: isCurrent ? undefined : Math.min(...considered.map(([, { syncedAt }]) => syncedAt)),
      /** When the mirror was last compared with the remote, by the clock of this process. */
      refreshedAt: at,
    };
  };
}
