import type { Branch } from '../../interface/resources.ts';
import { GitError } from '../git/git-error.ts';
import type { Storage } from '../storage/storage.ts';
import { asTimestampOrNull } from '../storage/timestamp.ts';
import type { Remotes } from './remotes.ts';
import { syncedBranches } from './synced-branches.ts';
import type { StoredWorkspace } from './workspaces.ts';

export const listingPatience = { timeoutMs: 10_000 };

export type BranchListing =
  | { readonly kind: 'listed'; readonly branches: readonly Branch[] }
  | { readonly kind: 'no-answer'; readonly why: string }
  /** It was not asked, because too many others are. */
  | { readonly kind: 'busy'; readonly why: string };

export type ListBranches = (workspace: StoredWorkspace) => Promise<BranchListing>;

export function createListBranches(storage: Storage, remotes: Remotes): ListBranches {
  return async (workspace) => {
    try {
      const { branches, defaultBranch } = await remotes.branches(workspace, listingPatience);
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
      if (error instanceof GitError) return { kind: error.kind === 'busy' ? 'busy' : 'no-answer', why: error.message };
      throw error;
    }
  };
}
