import { createHash } from 'node:crypto';

/** A file in a list of GitHub: docs.github.com, "List pull requests files". */
export interface GitHubFile {
  readonly filename: string;
  readonly status: 'added' | 'modified' | 'removed' | 'renamed' | 'copied';
  readonly previous_filename?: string;
}

/** The files of a commit by path, with a text that stands for their content. */
export type Tree = ReadonlyMap<string, string>;

interface Commit {
  readonly sha: string;
  readonly parents: readonly string[];
  readonly tree: Tree;
}

/** The difference of two trees as GitHub lists it. A file that moved with the same content counts as renamed. */
export function difference(from: Tree, to: Tree): readonly GitHubFile[] {
  const removed = new Map([...from].filter(([path]) => !to.has(path)).map(([path, content]) => [content, path]));
  const files: GitHubFile[] = [];
  for (const [filename, content] of to) {
    if (from.get(filename) === content) continue;
    const before = from.has(filename) ? undefined : removed.get(content);
    removed.delete(before === undefined ? '' : content);
    if (before !== undefined) files.push({ filename, status: 'renamed', previous_filename: before });
    else files.push({ filename, status: from.has(filename) ? 'modified' : 'added' });
  }
  return [...files, ...[...removed.values()].map((filename): GitHubFile => ({ filename, status: 'removed' }))];
}

/** The paths that differ between two trees: those that a guard must check. */
export const changedPaths = (from: Tree, to: Tree): ReadonlySet<string> =>
  new Set([...from.keys(), ...to.keys()].filter((path) => from.get(path) !== to.get(path)));

/** docs.github.com, "Compare two commits" and "Get a tree". */
const maxCompared = 300;
const maxTreeEntries = 100_000;

export type History = ReturnType<typeof createHistory>;

/** Commits with their files, and the responses of GitHub about them. */
export function createHistory(limits: { readonly maxTreeEntries: number } = { maxTreeEntries }) {
  const commits = new Map<string, Commit>();
  const folders = new Map<string, Tree>();

  /** The entries of a folder, and of those below it. An id stands for the content of a folder, as in git. */
  const entriesOf = (tree: Tree, recursive: boolean, prefix = ''): readonly object[] => {
    const below = new Map<string, Map<string, string>>();
    const entries: object[] = [];
    for (const [path, content] of tree) {
      const [, folder = '', rest = ''] = /^([^/]+)\/(.+)$/.exec(path) ?? [];
      if (folder === '') entries.push({ path: prefix + path, mode: '100644', type: 'blob', sha: idOf(content) });
      else below.set(folder, (below.get(folder) ?? new Map<string, string>()).set(rest, content));
    }
    for (const [folder, content] of below) {
      const sha = idOf(JSON.stringify([...content].sort()));
      folders.set(sha, content);
      entries.push({ path: prefix + folder, mode: '040000', type: 'tree', sha });
      if (recursive) entries.push(...entriesOf(content, true, `${prefix}${folder}/`));
    }
    return entries;
  };

  const known = (sha: string): Commit => {
    const commit = commits.get(sha);
    if (commit === undefined) throw new Error(`There is no commit ${sha}.`);
    return commit;
  };

  const reachable = (sha: string): ReadonlySet<string> => {
    const seen = new Set<string>();
    const walk = (each: string): void => {
      if (seen.has(each)) return;
      seen.add(each);
      known(each).parents.forEach(walk);
    };
    walk(sha);
    return seen;
  };

  /** The newest common commit is an ancestor of no other. */
  const mergeBase = (one: string, other: string): string | undefined => {
    const others = reachable(other);
    const both = reachable(one);
    return [...commits.keys()].findLast((sha) => both.has(sha) && others.has(sha));
  };

  return {
    /** The last common commit; undefined if there is none. */
    mergeBase,
    /** Adds a commit, and returns its id. */
    commit(tree: Tree, ...parents: readonly string[]): string {
      const sha = (commits.size + 1).toString(16).padStart(7, '0').padEnd(40, 'c');
      commits.set(sha, { sha, parents, tree });
      return sha;
    },
    treeOf: (sha: string) => known(sha).tree,
    comparison(base: string, head: string, perPage: number): object | undefined {
      if (!commits.has(base) || !commits.has(head)) return undefined;
      const common = mergeBase(base, head);
      if (common === undefined) return undefined;
      const ofBase = reachable(base);
      const ofHead = reachable(head);
      const ahead = [...ofHead].filter((sha) => !ofBase.has(sha));
      const behind = [...ofBase].filter((sha) => !ofHead.has(sha));
      const sides = ahead.length > 0 ? 'ahead' : behind.length > 0 ? 'behind' : 'identical';
      return {
        status: ahead.length > 0 && behind.length > 0 ? 'diverged' : sides,
        total_commits: ahead.length,
        merge_base_commit: { sha: common },
        commits: ahead.slice(0, perPage).map((sha) => ({ sha })),
        files: difference(known(common).tree, known(head).tree).slice(0, maxCompared),
      };
    },
    /** A folder by its id, or the root folder of a commit. A recursive list is cut at its limit. */
    gitTree(id: string, recursive: boolean): object | undefined {
      const tree = commits.get(id)?.tree ?? folders.get(id);
      if (tree === undefined) return undefined;
      const entries = entriesOf(tree, recursive);
      const max = recursive ? limits.maxTreeEntries : maxTreeEntries;
      return { sha: id, tree: entries.slice(0, max), truncated: entries.length > max };
    },
  };
}

const idOf = (content: string): string => createHash('sha1').update(content).digest('hex');
