import type { Branch } from '../../interface/resources.ts';
import { GitError } from '../git/git-error.ts';
import type { Storage } from '../storage/storage.ts';
import { asTimestampOrNull } from '../storage/timestamp.ts';
import type { Remotes } from './remotes.ts';
import type { StoredWorkspace } from './workspaces.ts';

const patience = { timeoutMs: 10_000 };

export type BranchListing =
  | { readonly kind: 'listed'; readonly branches: readonly Branch[] }
  | { readonly kind: 'no-answer'; readonly why: string };

export type ListBranches = (workspace: StoredWorkspace) => Promise<BranchListing>;

export function createListBranches({ read }: Storage, remotes: Remotes): ListBranches {
  return async (workspace) => {
    try {
      const { branches, defaultBranch } = await remotes.branches(workspace, patience);
      const rows = await read
        .selectFrom('synced_branches')
        .selectAll()
        .where('workspace_id', '=', workspace.id)
        .execute();
      const synced = new Map(rows.map((row) => [row.name, row]));
      return {
        kind: 'listed',
        branches: [...branches].map(([name, head]) => ({
          name,
          head,
          synced_head: synced.get(name)?.head ?? null,
          synced_at: asTimestampOrNull(synced.get(name)?.synced_at ?? null),
          default: name === defaultBranch,
        })),
      };
    } catch (error) {
      if (error instanceof GitError) return { kind: 'no-answer', why: error.message };
      throw error;
    }
  };
}
