import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { namesIn, unlessMissing } from '../platform/missing-file.ts';
import { createPackWriters, isRepository, type Mirror, removeLeftovers, withScratchFolder } from './bare-repository.ts';
import type { BranchHeads, BranchName } from './branch-name.ts';
import { type ChangeQuery, type FileChange, listChanges, listDifferences, lookUp } from './changes.ts';
import { estimateObjects, fetchBranch, fetchCommits, maintainMirror } from './fetch.ts';
import { gitCommand, inRepository, localLimits } from './git-command.ts';
import { asGitErrors } from './git-error.ts';
import { type Blob, fetchLfsObjects, type LfsTransfer, readSmallBlobs, type SmallBlobs } from './lfs.ts';
import type { Remote } from './remote.ts';
import { listRemoteBranches } from './remote-branches.ts';
import type { Limits } from './run-git.ts';
import { createSampleRepository } from './sample-repository.ts';
import { missingCommits, type ServeTask, serveMirror } from './serve-mirror.ts';

export type Git = ReturnType<typeof createGit>;

interface GitOptions {
  /** Parent of the mirrors, used by no other instance. */
  readonly dataFolder: string;
  readonly allowFile: boolean;
  /** The operator's environment. git inherits only PATH, the proxy, and the settings of ssh and TLS. */
  readonly environment: NodeJS.ProcessEnv;
  readonly silenceMs?: number | undefined;
}

const ending = '.git';

/** All uses of git by the service. Failures are GitErrors. */
export function createGit({ dataFolder, allowFile, environment, silenceMs = 60_000 }: GitOptions) {
  const git = gitCommand({ environment, allowFile });
  const root = resolve(dataFolder);
  const scratch = join(root, 'scratch');
  const mirrors = join(root, 'mirrors');
  const mirrorOf = (workspace: string): Mirror => ({
    repository: join(mirrors, `${workspace}${ending}`),
    scratch,
  });
  const gitOf = (workspace: string) => inRepository(git, mirrorOf(workspace).repository);

  /** Removes the mirror of a workspace that was removed. */
  const removeMirror = (workspace: string): Promise<void> =>
    asGitErrors(`remove the mirror of ${workspace}`, async () => {
      const { repository } = mirrorOf(workspace);
      // Not isRepository(): incomplete ones are removed too.
      if (!existsSync(repository)) return;
      await withScratchFolder(scratch, async (folder) => {
        await unlessMissing(rename(repository, join(folder, 'removed.git')));
      });
    });

  const asPackWriter = createPackWriters();
  async function writePacks<T>(workspace: string, work: (mirror: Mirror) => Promise<T>): Promise<T> {
    const mirror = mirrorOf(workspace);
    try {
      return await asPackWriter(mirror, () => work(mirror));
    } finally {
      // Another process has removed the workspace, and git recreated its folders for the pack that it was writing.
      if (!(await isRepository(mirror.repository))) await removeMirror(workspace);
    }
  }

  return {
    async version(): Promise<string> {
      const response = await git(['version'], { purpose: 'print its version', limits: localLimits });
      return response.replace(/^git version /, '').trim();
    },
    branches: (remote: Remote, limits: Limits) => listRemoteBranches(git, remote, limits),
    /** Which of these commits the mirror on this disk lacks. */
    missingCommits: (workspace: string, commits: Iterable<string>) =>
      asGitErrors('look for commits in the mirror', () =>
        missingCommits({ git, mirror: mirrorOf(workspace), limits: localLimits }, commits),
      ),
    listChanges: (workspace: string, query: ChangeQuery, onChange: (change: FileChange) => void) =>
      listChanges(gitOf(workspace), query, onChange),
    lookUp: (workspace: string, names: readonly string[], limits: Limits) =>
      lookUp(gitOf(workspace), names, { limits }),
    listDifferences: (workspace: string, query: Parameters<typeof listDifferences>[1]) =>
      listDifferences(gitOf(workspace), query),
    estimate: (workspace: string, remote: Remote, branch: BranchName, limits: Limits) =>
      asGitErrors(`start to fetch the branch ${branch} of ${remote.address}`, () =>
        estimateObjects({ git, mirror: mirrorOf(workspace), remote, limits, silenceMs }, branch),
      ),
    fetch: (
      workspace: string,
      remote: Remote,
      branch: BranchName,
      limits: Limits,
      onReceived: (objects: number) => void = () => undefined,
    ) =>
      asGitErrors(`fetch the branch ${branch} of ${remote.address}`, () =>
        writePacks(workspace, (mirror) => fetchBranch({ git, mirror, remote, limits, silenceMs }, branch, onReceived)),
      ),
    /** Some may still be missing afterwards: the remote may have dropped them. */
    fetchCommits: (workspace: string, remote: Remote, heads: BranchHeads, limits: Limits) =>
      asGitErrors(`fetch branches of ${remote.address}`, () =>
        writePacks(workspace, (mirror) => fetchCommits({ git, mirror, remote, limits, silenceMs }, heads)),
      ),
    smallBlobs: (workspace: string, wanted: SmallBlobs, limits: Limits, onBlob: (blob: Blob) => void) =>
      readSmallBlobs(gitOf(workspace), wanted, limits, onBlob),
    fetchLfsObjects: (transfer: Omit<LfsTransfer, 'silenceMs'>) =>
      asGitErrors('fetch LFS objects', () => fetchLfsObjects(git, scratch, { ...transfer, silenceMs })),
    /** Keeps the mirror fast. Useful after a fetch; a failure does no harm. */
    maintain: (workspace: string, limits: Limits) =>
      asGitErrors(`maintain the mirror of ${workspace}`, () =>
        writePacks(workspace, (mirror) => maintainMirror(git, mirror, limits)),
      ),
    /** Creates a sample repository if it is missing, and returns its path. Only useful with `allowFile`. */
    sampleRepository: () =>
      asGitErrors('create the sample repository', async () => {
        const repository = join(root, 'sample.git');
        await createSampleRepository(git, { repository, scratch });
        return repository;
      }),
    serve: (workspace: string, task: Omit<ServeTask, 'git' | 'mirror'>) =>
      asGitErrors(`serve the mirror of ${workspace}`, () => serveMirror({ ...task, git, mirror: mirrorOf(workspace) })),
    removeMirror,
    /** The workspaces that have a mirror. */
    listMirrors: () =>
      asGitErrors('list the mirrors', async () =>
        (await repositoriesIn(mirrors)).map((name) => basename(name, ending)),
      ),
    /** Removes what an earlier process left unfinished. */
    removeLeftovers: () =>
      asGitErrors('remove unfinished work', async () => {
        await rm(scratch, { recursive: true, force: true });
        for (const name of await repositoriesIn(mirrors)) await removeLeftovers(join(mirrors, name));
      }),
  };
}

const repositoriesIn = async (mirrors: string): Promise<readonly string[]> =>
  (await namesIn(mirrors)).filter((name) => name.endsWith(ending));
