import { closestNames } from '../../interface/closest-name.ts';
import { type LockPath, parseHeldPath, parseLockPath } from '../../interface/lock-path.ts';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import type { FolderQuery } from '../git/list-files.ts';
import { hasLocksBelow } from '../locks/list.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import type { Storage } from '../storage/storage.ts';
import { syncedBranches } from './synced-branches.ts';
import type { FoundWorkspace } from './workspaces.ts';

/** The entry at a path, and for a missing one the path that was probably meant. */
type FoundEntry =
  | { readonly kind: 'file' }
  | { readonly kind: 'folder' }
  | { readonly kind: 'missing'; readonly meant: string | undefined };

export type SuggestPaths = ReturnType<typeof createSuggestPaths>;

interface SuggestPathsParts {
  readonly storage: Pick<Storage, 'read'>;
  readonly git: Pick<Git, 'listFolder' | 'listBlobs'>;
}

const maxSuggestions = 40;

/** As of the command: in a folder with numbered files, more would be guesses. */
const maxEdits = 2;

/** The branches that were synced last. */
const maxBranches = 20;

/** Later suggestions would arrive after the next key press. */
const limits = { timeoutMs: 2_000 };

/** Limited, because each keystroke of each user may start a git process. */
const processes = {
  max: 4,
  maxPerKey: 2,
  timeout: { ms: 1_000, error: () => new GitError('busy', 'Too many paths are being completed.') },
};

/** Suggests paths from the mirror, without requests to the remote. */
export function createSuggestPaths({ storage, git }: SuggestPathsParts) {
  const limitProcesses = limitParallel(processes);

  /** Head of the default branch, if it is known and synced; otherwise of the branch that was synced last. */
  async function mirroredCommit(workspace: FoundWorkspace): Promise<string | undefined> {
    const synced = await syncedBranches(storage, workspace.id);
    const newestFirst = [...synced].sort(([, one], [, other]) => other.syncedAt - one.syncedAt);
    const [, last] = newestFirst.find(([name]) => name === workspace.default_branch) ?? newestFirst[0] ?? [];
    return last?.head;
  }

  const list = (workspace: FoundWorkspace, query: Omit<FolderQuery, 'limits'>) =>
    limitProcesses(workspace.id, () => git.listFolder(workspace.id, { ...query, limits }));

  /** The entry with the closest name in each folder along the path: the path itself if it exists. */
  async function findEntry(workspace: FoundWorkspace, commit: string, path: LockPath): Promise<FoundEntry> {
    let [folder, meant, isFolder] = ['', '', true];
    for (const name of path.split('/')) {
      const isWanted = (each: string): boolean => closestNames(name, [composed(each)], maxEdits).length > 0;
      const entries = isFolder
        ? await list(workspace, { commit, folder, isWanted, max: Number.POSITIVE_INFINITY })
        : [];
      const [closest, ...others] = closestNames(
        name,
        entries.map((entry) => composed(entry.name)),
        maxEdits,
      );
      const entry = entries.find((each) => composed(each.name) === closest);
      // Files with numbers are close to each other: any of them would be a guess.
      if (closest === undefined || entry === undefined || others.length > 0)
        return { kind: 'missing', meant: undefined };
      const start = folder === '' ? '' : '/';
      [folder, meant, isFolder] = [folder + start + entry.name, meant + start + closest, entry.isFolder];
    }
    if (meant !== path) return { kind: 'missing', meant: parseLockPath(meant).ok ? meant : undefined };
    return { kind: isFolder ? 'folder' : 'file' };
  }

  return {
    isMirrored: async (workspace: FoundWorkspace) => (await mirroredCommit(workspace)) !== undefined,
    /** Paths that start with this text: files, and folders with a trailing slash. */
    async suggest(workspace: FoundWorkspace, start: string): Promise<readonly string[]> {
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
        const folder = parent.slice(0, -1);
        const entries = await list(workspace, { commit, folder, isWanted, max: maxSuggestions });
        return entries.map((entry) => `${parent}${entry.name}${entry.isFolder ? '/' : ''}`);
      } catch (error) {
        // The folder does not exist, or another instance has the mirror: the path can still be typed.
        if (error instanceof GitError) return [];
        throw error;
      }
    },
    /** Whether the mirror has branches, and none of the last ones has this file. */
    async isInNoBranch(workspace: FoundWorkspace, path: LockPath): Promise<boolean> {
      const synced = [...(await syncedBranches(storage, workspace.id)).values()];
      const heads = new Set(synced.sort((one, other) => other.syncedAt - one.syncedAt).map(({ head }) => head));
      try {
        for (const head of [...heads].slice(0, maxBranches)) {
          const query = { head, paths: [path], limits };
          if ((await limitProcesses(workspace.id, () => git.listBlobs(workspace.id, query))).size > 0) return false;
        }
      } catch (error) {
        // The mirror cannot tell now.
        if (error instanceof GitError) return false;
        throw error;
      }
      return heads.size > 0;
    },
    /**
     * If the mirror cannot tell, because the workspace has none, or git is busy, slow or on another instance: a folder
     * if files below the path were locked, and otherwise undefined.
     */
    async find(workspace: FoundWorkspace, path: LockPath): Promise<FoundEntry | undefined> {
      const commit = await mirroredCommit(workspace);
      try {
        if (commit !== undefined) return await findEntry(workspace, commit, path);
      } catch (error) {
        if (!(error instanceof GitError)) throw error;
      }
      return (await hasLocksBelow(storage, workspace.id, path)) ? { kind: 'folder' } : undefined;
    },
  };
}

const composed = (name: string): string => name.normalize('NFC');
