import type { GitCommand } from './git-command.ts';
import { eachLine } from './git-output.ts';
import type { Limits } from './run-git.ts';

export interface FolderEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

export interface FolderQuery {
  readonly commit: string;
  /** Without a trailing slash; empty for the root. */
  readonly folder: string;
  readonly isWanted: (name: string) => boolean;
  readonly max: number;
  readonly limits: Limits;
}

/** Entries of one folder of a commit, in the order of git. Reads only this folder, up to `max` wanted entries. */
export async function listFolder(
  git: GitCommand,
  { commit, folder, isWanted, max, limits }: FolderQuery,
): Promise<readonly FolderEntry[]> {
  const entries: FolderEntry[] = [];
  const enough = new AbortController();
  const tree = folder === '' ? commit : `${commit}:${folder}`;
  const format = '--format=%(objecttype) %(path)';
  await git(['-c', 'core.quotePath=false', 'ls-tree', format, '--end-of-options', tree], {
    purpose: `list the folder ${folder === '' ? '/' : folder} of the mirror`,
    limits,
    enough: enough.signal,
    onOutput: eachLine((line) => {
      const [, type, name = ''] = /^(blob|tree) (.*)$/.exec(line) ?? [];
      if (enough.signal.aborted || !isReadable(name) || !isWanted(name)) return;
      entries.push({ name, isFolder: type === 'tree' });
      if (entries.length >= max) enough.abort();
    }),
  });
  return entries;
}

/** Excludes names that git quotes, such as those with control characters, and names that are not UTF-8. */
const isReadable = (name: string): boolean => name !== '' && !name.startsWith('"') && !name.includes('\ufffd');
