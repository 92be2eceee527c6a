import type { LockPath } from '../../interface/lock-path.ts';
import { withinMs } from '../../interface/timers.ts';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import type { Storage } from '../storage/storage.ts';
import { syncedBranches } from './synced-branches.ts';
import type { FoundWorkspace } from './workspaces.ts';

/** What the mirror has at a path; undefined if it cannot tell, because nothing was synced, or git is busy or slow. */
export type FindInMirror = (
  workspace: FoundWorkspace,
  path: LockPath,
) => Promise<'file' | 'folder' | 'missing' | undefined>;

/** The branches that were synced last. */
const maxBranches = 20;

const timeoutMs = 2_000;

/** Looks for paths in the mirror, without requests to the remote. */
export function createFindInMirror(parts: {
  readonly storage: Pick<Storage, 'read'>;
  readonly git: Pick<Git, 'lookUp'>;
}): FindInMirror {
  return async ({ id }, path) => {
    const synced = [...(await syncedBranches(parts.storage, id)).values()];
    const heads = synced
      .sort((one, other) => other.syncedAt - one.syncedAt)
      .slice(0, maxBranches)
      .map(({ head }) => head);
    if (heads.length === 0) return undefined;
    const names = [...heads, ...heads.map((head) => `${head}:${path}`)];
    try {
      const found = await withinMs(parts.git.lookUp(id, names, { timeoutMs }), timeoutMs, undefined);
      if (found === undefined) return undefined;
      const [commits, entries] = [found.slice(0, heads.length), found.slice(heads.length)];
      if (entries.includes('blob')) return 'file';
      if (entries.some((entry) => entry !== undefined)) return 'folder';
      return commits.includes(undefined) ? undefined : 'missing';
    } catch (error) {
      if (error instanceof GitError) return undefined;
      throw error;
    }
  };
}
