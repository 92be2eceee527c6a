import type { FileChange } from '../git/changes.ts';
import type { Git } from '../git/git.ts';

const limits = { timeoutMs: 10_000 };

/** More differences mean unrelated branches. Files beyond this number count as current. */
const maxPaths = 200_000;
const maxPairs = 100;

/** By path: the newest change of each file on another branch that a branch lacks. */
type NewerVersions = ReadonlyMap<string, FileChange>;

/** Compares two heads once, and remembers the answer: a step asks for thousands of paths. */
export function createFindNewerVersions(git: Pick<Git, 'listChanges' | 'listDifferences'>) {
  const remembered = new Map<string, { readonly found: Promise<NewerVersions>; paths: number }>();

  function forgetOldest(): void {
    for (const key of remembered.keys()) {
      const total = remembered.values().reduce((sum, { paths }) => sum + paths, 0);
      if (remembered.size <= maxPairs && total <= maxPaths) return;
      remembered.delete(key);
    }
  }

  async function find(workspace: string, ours: string, theirs: string): Promise<NewerVersions> {
    const newest = new Map<string, FileChange>();
    await git.listChanges(workspace, { head: theirs, except: ours, limits }, (change) => {
      if (newest.size < maxPaths && !newest.has(change.path)) newest.set(change.path, change);
    });
    if (newest.size === 0) return newest;
    // The same change may have reached the branch by another commit, or may have been reverted.
    const different = await git.listDifferences(workspace, { from: ours, to: theirs, limits });
    for (const path of newest.keys()) if (!different.has(path)) newest.delete(path);
    return newest;
  }

  return (workspace: string, ours: string, theirs: string): Promise<NewerVersions> => {
    const key = `${workspace} ${ours} ${theirs}`;
    const known = remembered.get(key);
    if (known !== undefined) return known.found;
    const entry = { found: find(workspace, ours, theirs), paths: 0 };
    remembered.set(key, entry);
    entry.found.then(
      ({ size }) => {
        entry.paths = size;
        forgetOldest();
      },
      () => remembered.delete(key),
    );
    return entry.found;
  };
}
