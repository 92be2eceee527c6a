import type { Comparison, Outdated } from '../../interface/resources.ts';
import type { FileChange } from '../git/changes.ts';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { foldCase } from '../locks/windows-path.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { latestMode } from '../workspaces/latest.ts';
import { createFindNewerVersions } from './newer-versions.ts';
import { type ComparedHeads, createRefreshMirror, type RefreshParts, type RefreshRequest } from './refresh-mirror.ts';

interface CompareParts extends RefreshParts {
  readonly git: Pick<Git, 'missingCommits' | keyof LimitedGit>;
  readonly windowsPaths: boolean;
  readonly onError: (error: unknown) => void;
}

type LimitedGit = Pick<Git, 'listBlobs' | 'listChanges' | 'listDifferences'>;

/** A branch that the remote does not have is not compared. */
interface CompareRequest extends RefreshRequest {
  readonly paths: readonly string[];
  /** By path: the git blobs of the files in a clone. */
  readonly versions?: ReadonlyMap<string, string>;
}

export type Compare = (request: CompareRequest) => Promise<Comparison>;

/** A client may ask about the complete history of a thousand files. */
const processes = {
  max: 4,
  maxPerKey: 2,
  timeout: { ms: 10_000, error: () => new GitError('busy', 'Too many files are being compared.') },
};

const maxVersions = 1_000;

const maxAgeMs = 60_000;
/** A client that has merged asks again. */
const maxAgeOfRefusalMs = 2_000;

/** Finds outdated files: one of the compared branches has a newer version than the request. */
export function createCompare(parts: CompareParts): Compare {
  const { windowsPaths, onError } = parts;
  const fold = windowsPaths ? foldCase : (path: string) => path;
  const limitProcesses = limitParallel(processes);
  const git: LimitedGit = {
    listBlobs: (workspace, query) => limitProcesses(workspace, () => parts.git.listBlobs(workspace, query)),
    listChanges: (workspace, ...query) => limitProcesses(workspace, () => parts.git.listChanges(workspace, ...query)),
    listDifferences: (workspace, query) => limitProcesses(workspace, () => parts.git.listDifferences(workspace, query)),
  };
  const refreshMirror = createRefreshMirror(parts);
  const findNewerVersions = createFindNewerVersions(git, fold);

  async function outdatedIn(heads: ComparedHeads, request: CompareRequest) {
    const { workspace, paths } = request;
    const { compared, own } = heads;
    const found = new Map<string, Outdated>();
    let isComplete = true;
    for (const [branch, head] of compared) {
      if (own === undefined || head === own) continue;
      const newer = await findNewerVersions(workspace.id, own, head);
      for (const path of paths) {
        const change = newer.changes.get(fold(path));
        const known = found.get(path);
        if (change === undefined) {
          isComplete &&= newer.isComplete;
          continue;
        }
        const outdated = outdatedBy({ ...change, path }, branch);
        if (known === undefined || known.at < outdated.at) found.set(path, outdated);
      }
    }
    for (const outdated of await olderCopies(heads, request)) {
      if (!found.has(outdated.path)) found.set(outdated.path, outdated);
    }
    return { outdated: [...found.values()], isComplete };
  }

  /** Files of a clone that are an earlier version of the file on its branch, or without one, on a compared branch. */
  async function olderCopies({ compared, own }: ComparedHeads, request: CompareRequest): Promise<readonly Outdated[]> {
    const { workspace, branch, versions = new Map<string, string>() } = request;
    if (versions.size === 0) return [];
    // The branch may contain the newest version of the other branches, and have reverted it.
    const heads = branch === undefined || own === undefined ? compared : new Map([[branch, own]]);
    const older: Outdated[] = [];
    for (const [name, head] of heads) {
      const query = { head, paths: [...versions.keys()], limits: { timeoutMs: 10_000 } };
      const blobs = await git.listBlobs(workspace.id, query);
      const changes = new Map<string, FileChange[]>();
      await git.listChanges(workspace.id, query, (change) => {
        const known = changes.get(change.path);
        if (known === undefined) changes.set(change.path, [change]);
        else if (known.length < maxVersions) known.push(change);
      });
      for (const [path, all] of changes) {
        const indexOf = (version: string | null | undefined) => all.findIndex(({ blob }) => blob === version);
        const [newest, copy] = [indexOf(blobs.get(path) ?? null), indexOf(versions.get(path))];
        const change = all[newest];
        if (change === undefined || copy < 0 || copy === newest) continue;
        // A version that a merge did not take may have a later time.
        older.push({ ...outdatedBy(change, name), behind: Math.max(1, copy - newest) });
      }
    }
    return older;
  }

  return async (request) => {
    const { workspace, branch, versions } = request;
    const latest = latestMode(workspace);
    if (latest === 'off' || (branch === undefined && !versions?.size)) return { latest, outdated: [] };
    try {
      let heads = await refreshMirror(request, maxAgeMs);
      let found = await outdatedIn(heads, request);
      if (found.outdated.length > 0 && performance.now() - heads.refreshedAt > maxAgeOfRefusalMs) {
        heads = await refreshMirror(request, maxAgeOfRefusalMs);
        found = await outdatedIn(heads, request);
      }
      return { latest, outdated: found.outdated, ...ageOf(found.isComplete ? heads.asOf : Infinity) };
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      onError(error);
      return { latest, outdated: [], as_of: null };
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

/** Infinite if the mirror lacks a branch, or if it is unknown which branches count. */
const ageOf = (asOf: number | undefined): Pick<Comparison, 'as_of'> =>
  asOf === undefined ? {} : { as_of: Number.isFinite(asOf) ? asTimestamp(asOf) : null };
