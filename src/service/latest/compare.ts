import type { Compared, LatestMode, Outdated } from '../../interface/resources.ts';
import { withinMs } from '../../interface/timers.ts';
import type { FileChange } from '../git/changes.ts';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { latestMode, uncompared } from '../workspaces/settings.ts';
import { type ComparedHeads, createRefreshMirror, type RefreshParts, type RefreshRequest } from './refresh-mirror.ts';

interface CompareParts extends RefreshParts {
  readonly git: Pick<Git, 'missingCommits' | 'listChanges' | 'listDifferences'>;
  readonly onError: (error: unknown) => void;
}

/** A branch that the remote does not have is not compared. */
interface CompareRequest extends RefreshRequest {
  readonly paths: readonly string[];
}

export type Compare = (request: CompareRequest) => Promise<Compared>;

/** A longer comparison continues in the background, and its result serves the next request. */
const maxMs = 5_000;

const maxAgeMs = 60_000;
/** Short, because a client that was refused merges and asks again. */
const maxAgeOfRefusalMs = 2_000;

/** Finds outdated files: those with a newer version on one of the compared branches. */
export function createCompare(parts: CompareParts): Compare {
  const { git, onError } = parts;
  const refreshMirror = createRefreshMirror(parts);
  const findNewerVersions = createFindNewerVersions(git);

  async function outdatedIn(heads: ComparedHeads, request: CompareRequest) {
    const { workspace, paths } = request;
    const { compared, own } = heads;
    if (own === undefined) return { outdated: [], isComplete: true };
    const found = new Map<string, Outdated>();
    let isComplete = true;
    let differences = 0;
    // One after the other, because each may differ in any number of files.
    for (const [branch, head] of compared) {
      if (head === own) continue;
      if (differences > maxDifferences) return { outdated: [...found.values()], isComplete: false };
      const newer = await findNewerVersions(workspace.id, own, head);
      differences += newer.changes.size;
      for (const path of paths) {
        const change = newer.changes.get(path);
        const known = found.get(path);
        if (change === undefined) {
          isComplete &&= newer.isComplete;
          continue;
        }
        const outdated = outdatedBy({ ...change, path }, branch);
        if (known === undefined || known.at < outdated.at) found.set(path, outdated);
      }
    }
    return { outdated: [...found.values()], isComplete };
  }

  async function compareOnce(latest: LatestMode, request: CompareRequest, maxAgeMs: number) {
    const heads = await refreshMirror(request, maxAgeMs);
    const { outdated, isComplete } = await outdatedIn(heads, request);
    const compared: Compared = { latest, branch: request.branch, outdated, ...ageOf(heads, isComplete) };
    return { heads, compared };
  }

  return async (request) => {
    const { workspace, branch } = request;
    const latest = latestMode.of(workspace.latest);
    if (latest === 'off' || branch === undefined) return { latest, outdated: [] };
    let last = uncompared(latest, {
      reason: `The comparison with the other branches takes longer than ${maxMs / 1_000} s. Try again.`,
      isLasting: false,
    });
    async function compare(): Promise<Compared> {
      const first = await compareOnce(latest, request, maxAgeMs);
      last = first.compared;
      if (last.outdated.length === 0 || performance.now() - first.heads.refreshedAt <= maxAgeOfRefusalMs) return last;
      return (await compareOnce(latest, request, maxAgeOfRefusalMs)).compared;
    }
    try {
      return (await withinMs(compare(), maxMs, undefined)) ?? last;
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      onError(error);
      return uncompared(latest, { reason: `The files could not be compared: ${error.message}`, isLasting: false });
    }
  };
}

const outdatedBy = ({ path, blob, commit }: FileChange, branch: string): Outdated => ({
  path,
  branch,
  commit: commit.id,
  author: commit.author,
  at: asTimestamp(commit.at),
  ...(blob === null && { deleted: true }),
});

function ageOf({ asOf, gap }: ComparedHeads, isComplete: boolean): Pick<Compared, 'as_of' | 'gap'> {
  if (gap !== undefined) return { as_of: null, gap };
  if (!isComplete) return { as_of: null, gap: { reason: 'The branches differ in too many files.', isLasting: true } };
  return asOf === undefined ? {} : { as_of: asTimestamp(asOf) };
}

const limits = { timeoutMs: 10_000 };

/** Branches with more differences are unrelated. */
const maxPaths = 200_000;
/** Limit for one branch and all others, and for all remembered comparisons. Each difference takes about 300 bytes. */
const maxDifferences = 500_000;

/** Each comparison keeps a processor busy, and up to `maxPaths` differences in memory. */
const parallelComparisons = {
  max: 4,
  maxPerKey: 2,
  timeout: { ms: 30_000, error: () => new GitError('busy', 'Too many comparisons of branches are running.') },
};

interface NewerVersions {
  /** By path, for files that changed on the other branch: the newest change, which ours lacks. */
  readonly changes: ReadonlyMap<string, FileChange>;
  /** False if there were too many changes. Then a file without an entry may be outdated, too. */
  readonly isComplete: boolean;
}

/** Compares two heads only once, because a step requests thousands of paths. */
export function createFindNewerVersions(git: Pick<Git, 'listChanges' | 'listDifferences'>) {
  const remembered = new Map<string, Promise<NewerVersions>>();
  let total = 0;
  const limitComparisons = limitParallel(parallelComparisons);

  async function find(workspace: string, ours: string, theirs: string): Promise<NewerVersions> {
    const newest = new Map<string, FileChange>();
    await git.listChanges(workspace, { head: theirs, except: ours, limits }, (change) => {
      if (newest.size < maxPaths && !newest.has(change.path)) newest.set(change.path, change);
    });
    const isComplete = newest.size < maxPaths;
    if (newest.size === 0) return { changes: newest, isComplete };
    // The change may have reached the branch in another commit, or may have been reverted.
    const different = new Set<string>();
    await git.listDifferences(workspace, { from: ours, to: theirs, limits }, (path) => {
      if (newest.has(path)) different.add(path);
    });
    return { changes: new Map([...newest].filter(([path]) => different.has(path))), isComplete };
  }

  return (workspace: string, ours: string, theirs: string): Promise<NewerVersions> => {
    const key = `${workspace} ${ours} ${theirs}`;
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const found = limitComparisons(workspace, () => find(workspace, ours, theirs));
    remembered.set(key, found);
    found.then(
      ({ changes }) => {
        total += 1 + changes.size;
        if (total <= maxDifferences) return;
        // Drops all: each comparison is repeated when it is needed.
        remembered.clear();
        total = 0;
      },
      () => remembered.delete(key),
    );
    return found;
  };
}
