import { parseHeldPath, parseLockPath } from '../../interface/lock-path.ts';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import type { Storage } from '../storage/storage.ts';
import type { RemoteMemory } from './remote-memory.ts';
import { syncedBranches } from './synced-branches.ts';
import type { StoredWorkspace } from './workspaces.ts';

export type SuggestPaths = ReturnType<typeof createSuggestPaths>;

interface SuggestPathsParts {
  readonly storage: Pick<Storage, 'read'>;
  readonly git: Pick<Git, 'listFolder'>;
  readonly remoteMemory: Pick<RemoteMemory, 'known'>;
}

const maxSuggestions = 40;

/** Later suggestions would arrive after the next key press. */
const limits = { timeoutMs: 2_000 };

/** Limited, because each keystroke of each user may start a git process. */
const processes = {
  max: 4,
  maxPerKey: 2,
  timeout: { ms: 1_000, error: () => new GitError('busy', 'Too many paths are being completed.') },
};

/** Suggests paths from the mirror, without requests to the remote. */
export function createSuggestPaths({ storage, git, remoteMemory }: SuggestPathsParts) {
  const limitProcesses = limitParallel(processes);

  /** Head of the default branch, if it is known and synced; otherwise of the branch that was synced last. */
  async function mirroredCommit(workspace: StoredWorkspace): Promise<string | undefined> {
    const synced = await syncedBranches(storage, workspace.id);
    const { listing } = remoteMemory.known(workspace);
    const [latest] = [...synced.values()].sort((one, other) => other.syncedAt - one.syncedAt);
    return (synced.get(listing?.defaultBranch ?? '') ?? latest)?.head;
  }

  return {
    isMirrored: async (workspace: StoredWorkspace) => (await mirroredCommit(workspace)) !== undefined,
    /** Paths that start with this text: files, and folders with a trailing slash. */
    async suggest(workspace: StoredWorkspace, start: string): Promise<readonly string[]> {
      // With one more letter it must be a valid path, so that its folder can be listed.
      const path = parseHeldPath(`${start}x`);
      const commit = path.ok ? await mirroredCommit(workspace) : undefined;
      if (!path.ok || commit === undefined) return [];
      const parent = path.value.slice(0, path.value.lastIndexOf('/') + 1);
      const begins = path.value.slice(0, -1).toLowerCase();
      const isWanted = (name: string): boolean => {
        const lockable = parseLockPath(parent + name);
        return lockable.ok && lockable.value.toLowerCase().startsWith(begins);
      };
      try {
        const entries = await limitProcesses(workspace.id, () =>
          git.listFolder(workspace.id, { commit, folder: parent.slice(0, -1), isWanted, max: maxSuggestions, limits }),
        );
        return entries.map((entry) => `${parent}${entry.name}${entry.isFolder ? '/' : ''}`);
      } catch (error) {
        // The folder does not exist, or another instance has the mirror: the path can still be typed.
        if (error instanceof GitError) return [];
        throw error;
      }
    },
  };
}
