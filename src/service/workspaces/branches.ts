import type { Branch } from '../../interface/resources.ts';
import { GitError } from '../git/git-error.ts';
import type { RemoteBranches } from '../git/remote-branches.ts';
import type { Storage } from '../storage/storage.ts';
import { asTimestampOrNull } from '../storage/timestamp.ts';
import type { Remotes } from './remotes.ts';
import { syncedBranches } from './synced-branches.ts';
import type { StoredWorkspace } from './workspaces.ts';

export type BranchListing =
  | { readonly kind: 'listed'; readonly branches: readonly Branch[] }
  | { readonly kind: 'no-answer'; readonly reason: string }
  /** It was not asked, because too many others are. */
  | { readonly kind: 'busy'; readonly reason: string };

export type ListBranches = (workspace: StoredWorkspace) => Promise<BranchListing>;

export function createListBranches(storage: Storage, remotes: Remotes): ListBranches {
  const list = shareListings(remotes);
  return async (workspace) => {
    try {
      const { branches, defaultBranch } = await list(workspace);
      const synced = await syncedBranches(storage, workspace.id);
      return {
        kind: 'listed',
        branches: [...branches].map(([name, head]) => ({
          name,
          head,
          synced_head: synced.get(name)?.head ?? null,
          synced_at: asTimestampOrNull(synced.get(name)?.syncedAt ?? null),
          default: name === defaultBranch,
        })),
      };
    } catch (error) {
      if (error instanceof GitError)
        return { kind: error.kind === 'busy' ? 'busy' : 'no-answer', reason: error.message };
      throw error;
    }
  };
}

export const listBranchesTimeout = { timeoutMs: 10_000 };

/** Requests that arrive before a listing starts share it: its result is newer than each of them. */
function shareListings(remotes: Remotes): (workspace: StoredWorkspace) => Promise<RemoteBranches> {
  const waiting = new Map<string, Promise<RemoteBranches>>();
  return (workspace) => {
    const key = JSON.stringify([workspace.id, workspace.remote]);
    const shared = waiting.get(key);
    if (shared !== undefined) return shared;
    const forget = () => waiting.delete(key);
    const listing = remotes.branches(workspace, listBranchesTimeout, forget).catch((error: unknown) => {
      // It may have waited in vain, and never begun.
      if (waiting.get(key) === listing) forget();
      throw error;
    });
    waiting.set(key, listing);
    return listing;
  };
}
