import type { FileChange } from '../git/changes.ts';
import type { Git } from '../git/git.ts';

const limits = { timeoutMs: 10_000 };

/** More differences mean unrelated branches. */
const maxPaths = 200_000;
/** Most pairs have few differences or none. */
const maxPairs = 20_000;

interface NewerVersions {
  /** By folded path: the newest change of each file on another branch that a branch lacks. */
  readonly changes: ReadonlyMap<string, FileChange>;
  /** False if there were too many changes: a file without one may have one. */
  readonly isComplete: boolean;
}

/** Compares two heads once, and remembers the answer: a step asks for thousands of paths. */
export function createFindNewerVersions(
  git: Pick<Git, 'listChanges' | 'listDifferences'>,
  fold: (path: string) => string,
) {
  const remembered = new Map<string, { readonly found: Promise<NewerVersions>; paths: number }>();
  let rememberedPaths = 0;

  function evictOldest(): void {
    for (const [key, { paths }] of remembered) {
      if (remembered.size <= maxPairs && rememberedPaths <= maxPaths) return;
      remembered.delete(key);
      rememberedPaths -= paths;
    }
  }

  async function find(workspace: string, ours: string, theirs: string): Promise<NewerVersions> {
    const newest = new Map<string, FileChange>();
    await git.listChanges(workspace, { head: theirs, except: ours, limits }, (change) => {
      if (newest.size < maxPaths && !newest.has(change.path)) newest.set(change.path, change);
    });
    const isComplete = newest.size < maxPaths;
    if (newest.size === 0) return { changes: newest, isComplete };
    // The same change may have reached the branch by another commit, or may have been reverted.
    const different = await git.listDifferences(workspace, { from: ours, to: theirs, limits });
    const changes = new Map<string, FileChange>();
    for (const [path, change] of newest) {
      const known = changes.get(fold(path));
      // A change of case only is the deletion of one spelling.
      if (different.has(path) && (known === undefined || known.blob === null)) changes.set(fold(path), change);
    }
    return { changes, isComplete };
  }

  return (workspace: string, ours: string, theirs: string): Promise<NewerVersions> => {
    const key = `${workspace} ${ours} ${theirs}`;
    const known = remembered.get(key);
    if (known !== undefined) return known.found;
    const entry = { found: find(workspace, ours, theirs), paths: 0 };
    remembered.set(key, entry);
    entry.found.then(
      ({ changes: { size } }) => {
        if (remembered.get(key) !== entry) return;
        entry.paths = size;
        rememberedPaths += size;
        evictOldest();
      },
      () => remembered.get(key) === entry && remembered.delete(key),
    );
    return entry.found;
  };
}
