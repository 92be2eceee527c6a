import { rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { BranchName } from '../../interface/branch-name.ts';
import { namesIn, unlessMissing } from '../platform/missing-file.ts';
import { type BranchHeads, isRepository, type Mirror, removeLeftovers, withScratchFolder } from './bare-repository.ts';
import { listChanges, listDifferences } from './changes.ts';
import { estimateObjects, fetchBranch, fetchCommits, listRemoteBranches, maintainMirror } from './fetch.ts';
import { type GitCommand, gitCommand, inRepository, localLimits } from './git-command.ts';
import { asGitErrors } from './git-error.ts';
import { fetchLfsObjects, type LfsTransfer, readSmallBlobs } from './lfs.ts';
import { createMirrorWrites } from './mirror-writes.ts';
import type { Remote } from './remote.ts';
import type { Limits } from './run-git.ts';
import { createSampleRepository } from './sample-repository.ts';
import { missingCommits, type ServeTask, serveMirror } from './serve-mirror.ts';

export type Git = ReturnType<typeof createGit>;

interface GitOptions {
  /** Parent folder of the mirrors. No other instance uses it. */
  readonly dataFolder: string;
  readonly allowFile: boolean;
  /** The operator's environment. git inherits only PATH, the proxy, and the settings of ssh and TLS. */
  readonly environment: NodeJS.ProcessEnv;
  readonly silenceMs?: number | undefined;
}

const ending = '.git';

/** All functions of git that the service uses. They fail with GitErrors. */
export function createGit({ dataFolder, allowFile, environment, silenceMs = 60_000 }: GitOptions) {
  const git = gitCommand({ environment, allowFile });
  const root = resolve(dataFolder);
  const scratch = join(root, 'scratch');
  const mirrors = join(root, 'mirrors');
  const mirrorOf = (workspace: string): Mirror => ({
    repository: join(mirrors, `${workspace}${ending}`),
    scratch,
  });

  const { writePacks, fetchInTurn, fetchEachInTurn } = createMirrorWrites(mirrorOf);

  const read =
    <Query extends readonly unknown[], T>(work: (git: GitCommand, ...query: Query) => Promise<T>) =>
    (workspace: string, ...query: Query): Promise<T> =>
      work(inRepository(git, mirrorOf(workspace).repository), ...query);

  return withGitErrors({
    async version(): Promise<string> {
      const response = await git(['version'], { purpose: 'print its version', limits: localLimits });
      return response.replace(/^git version /, '').trim();
    },
    branches: (remote: Remote, limits: Limits) => listRemoteBranches(git, remote, limits),
    missingCommits: (workspace: string, commits: Iterable<string>) =>
      missingCommits({ git, mirror: mirrorOf(workspace), limits: localLimits }, commits),
    listChanges: read(listChanges),
    listDifferences: read(listDifferences),
    estimate: (workspace: string, remote: Remote, branch: BranchName, limits: Limits) =>
      estimateObjects({ git, mirror: mirrorOf(workspace), remote, limits, silenceMs }, branch),
    fetch: (
      workspace: string,
      remote: Remote,
      branch: BranchName,
      limits: Limits,
      onReceived: (objects: number) => void = () => undefined,
    ) =>
      fetchInTurn(workspace, limits, [branch], (mirror) =>
        fetchBranch({ git, mirror, remote, limits, silenceMs }, branch, onReceived),
      ),
    /** Some commits may still be missing afterwards, because the remote may have dropped them. */
    fetchCommits: (workspace: string, remote: Remote, heads: BranchHeads, limits: Limits) =>
      fetchEachInTurn(workspace, limits, heads, (mirror, some) =>
        fetchCommits({ git, mirror, remote, limits, silenceMs }, some),
      ),
    smallBlobs: read(readSmallBlobs),
    fetchLfsObjects: (transfer: Omit<LfsTransfer, 'silenceMs'>) =>
      fetchLfsObjects(git, scratch, { ...transfer, silenceMs }),
    /** Keeps the mirror fast after many fetches. A failure does no harm. */
    async maintain(workspace: string, limits: Limits): Promise<void> {
      // The first fetch may be creating it right now.
      if (!(await isRepository(mirrorOf(workspace).repository))) return;
      await writePacks(workspace, (mirror) => maintainMirror(git, mirror, limits));
    },
    /** Creates a sample repository if it is missing, and returns its path. Only useful with `allowFile`. */
    async sampleRepository(): Promise<string> {
      const repository = join(root, 'sample.git');
      await createSampleRepository(git, { repository, scratch });
      return repository;
    },
    serve: (workspace: string, task: Omit<ServeTask, 'git' | 'mirror'>) =>
      serveMirror({ ...task, git, mirror: mirrorOf(workspace) }),
    removeMirror: (workspace: string) =>
      withScratchFolder(scratch, async (folder) => {
        await unlessMissing(rename(mirrorOf(workspace).repository, join(folder, 'removed.git')));
      }),
    listMirrors: async () => (await repositoriesIn(mirrors)).map((name) => basename(name, ending)),
    /** Removes leftovers of an earlier process. */
    async removeLeftovers(): Promise<void> {
      await rm(scratch, { recursive: true, force: true });
      for (const name of await repositoriesIn(mirrors)) await removeLeftovers(join(mirrors, name));
    },
  });
}

type Method = (...given: never[]) => Promise<unknown>;

/** The same functions, with system errors in the data folder converted to GitErrors. */
function withGitErrors<Work extends Readonly<Record<string, Method>>>(all: Work): Work {
  const guarded = Object.entries(all).map(([name, work]) => [
    name,
    (...given: never[]) => asGitErrors('use the data folder', () => work(...given)),
  ]);
  // Each function keeps its parameters and its result.
  return Object.fromEntries(guarded) as Work;
}

const repositoriesIn = async (mirrors: string): Promise<readonly string[]> =>
  (await namesIn(mirrors)).filter((name) => name.endsWith(ending));
