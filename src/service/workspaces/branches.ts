import type { Branch } from '../../interface/resources.ts';
import { GitError } from '../git/git-error.ts';
import type { RemoteBranches } from '../git/remote-branches.ts';
import { createOnce } from '../runtime/once.ts';
import type { Storage } from '../storage/storage.ts';
import { asTimestampOrNull } from '../storage/timestamp.ts';
import { type Remotes, remoteKey } from './remotes.ts';
import { syncedBranches } from './synced-branches.ts';
import type { StoredWorkspace } from './workspaces.ts';

export type BranchListing =
  | { readonly kind: 'listed'; readonly branches: readonly Branch[] }
  | { readonly kind: 'no-answer'; readonly reason: string }
  /** The remote was not asked, because too many others are being asked. */
  | { readonly kind: 'busy'; readonly reason: string };

export type ListBranches = (workspace: StoredWorkspace) => Promise<BranchListing>;

export function createListBranches(storage: Storage, remotes: Remotes): ListBranches {
  const once = createOnce<RemoteBranches>();
  return async (workspace) => {
    try {
      const { branches, defaultBranch } = await once(remoteKey(workspace), (begun) =>
        remotes.branches(workspace, listBranchesTimeout, begun),
      );
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
