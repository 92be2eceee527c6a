import { readdir, rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { headOf, isRepository, type Mirror, openMirror } from './bare-repository.ts';
import type { BranchName } from './branch-name.ts';
import { type Estimate, estimateObjects } from './estimate.ts';
import { type Fetched, fetchBranch } from './fetch.ts';
import { gitCommand, localLimits } from './git-command.ts';
import { asGitErrors } from './git-error.ts';
import { maintainMirror } from './maintain.ts';
import type { Remote } from './remote.ts';
import { listRemoteBranches, type RemoteBranches } from './remote-branches.ts';
import type { Limits } from './run-git.ts';
import { createSampleRepository } from './sample-repository.ts';
import { inScratchFolder } from './scratch.ts';
import { type MinTransferSpeed, minTransferSpeed } from './transfer-speed.ts';

export interface GitOptions {
  /** Mirrors are kept in here. Instances may share it. */
  readonly dataFolder: string;
  readonly allowFile: boolean;
  /** The operator's environment. Little of it reaches git: the path, the proxy, and how ssh and TLS are set up. */
  readonly environment: NodeJS.ProcessEnv;
  readonly minSpeed?: MinTransferSpeed | undefined;
}

/** All that the service does with git. What goes wrong is a GitError. */
export interface Git {
  /** The version of the git that is installed. */
  version(): Promise<string>;
  branches(remote: Remote, limits: Limits): Promise<RemoteBranches>;
  /** The commit of the branch when it was last fetched. */
  head(workspace: string, branch: BranchName): Promise<string | undefined>;
  estimate(workspace: string, remote: Remote, branch: BranchName, limits: Limits): Promise<Estimate>;
  fetch(
    workspace: string,
    remote: Remote,
    branch: BranchName,
    limits: Limits,
    onReceived?: (objects: number) => void,
  ): Promise<Fetched>;
  /** Keeps the mirror quick. Worth doing after a fetch; failing does no harm. */
  maintain(workspace: string, limits: Limits): Promise<void>;
  /** Makes a small repository to try the service with, once, and gives its path. Needs `allowFile` to be of use. */
  sampleRepository(): Promise<string>;
  /** Removes the mirror of a workspace that was removed. */
  forget(workspace: string): Promise<void>;
  /**
   * Removes the mirrors of all workspaces that no longer exist, and returns their ids. The workspaces are listed when the
   * mirrors are known, so that one that another instance has just made is not taken for one that is left over.
   */
  forgetAllBut(existing: () => Promise<readonly string[]>): Promise<readonly string[]>;
}

/** One name of a folder for each identifier, also where a disk takes upper and lower case for the same. */
const folderName = (workspace: string): string =>
  [...Buffer.from(workspace)]
    .map((byte) => String.fromCharCode(byte))
    .map((character) => (/[a-z0-9_-]/.test(character) ? character : `%${character.charCodeAt(0).toString(16)}`))
    .join('');

const ending = '.git';

/** The workspaces that there are mirrors of. */
async function mirroredWorkspaces(mirrors: string): Promise<readonly string[]> {
  const folders = await readdir(mirrors).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return folders.flatMap((folder) => {
    const name = folder.slice(0, -ending.length);
    const workspace = name.replaceAll(/%([0-9a-f]{2})/g, (_, byte: string) => String.fromCharCode(Number(`0x${byte}`)));
    // Any other folder was put there by somebody else.
    return folder === `${folderName(workspace)}${ending}` ? [workspace] : [];
  });
}

export function createGit({ dataFolder, allowFile, environment, minSpeed = minTransferSpeed }: GitOptions): Git {
  const git = gitCommand({ environment, allowFile });
  const root = resolve(dataFolder);
  const scratch = join(root, 'scratch');
  const mirrors = join(root, 'mirrors');
  const mirrorOf = (workspace: string): Mirror => ({
    repository: join(mirrors, `${folderName(workspace)}${ending}`),
    scratch,
  });

  const forget = (workspace: string): Promise<void> =>
    asGitErrors(`remove the mirror of ${workspace}`, async () => {
      const { repository } = mirrorOf(workspace);
      if (!(await isRepository(repository))) return;
      await inScratchFolder(scratch, async (folder) => {
        await rename(repository, join(folder, 'forgotten.git')).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT') throw error;
        });
      });
    });

  return {
    async version() {
      const answer = await git(['version'], { purpose: 'tell its version', limits: localLimits });
      return answer.replace(/^git version /, '').trim();
    },
    branches: (remote, limits) => listRemoteBranches(git, remote, limits),
    head: (workspace, branch) =>
      asGitErrors(`read the branch ${branch} of the mirror`, async () => {
        const { repository } = await openMirror(git, mirrorOf(workspace));
        return headOf(git, repository, branch);
      }),
    estimate: (workspace, remote, branch, limits) =>
      asGitErrors(`begin to fetch the branch ${branch} of ${remote.address}`, () =>
        estimateObjects(git, mirrorOf(workspace), remote, branch, limits, minSpeed),
      ),
    fetch: (workspace, remote, branch, limits, onReceived = () => {}) =>
      asGitErrors(`fetch the branch ${branch} of ${remote.address}`, () =>
        fetchBranch(git, mirrorOf(workspace), remote, branch, limits, minSpeed, onReceived),
      ),
    maintain: (workspace, limits) =>
      asGitErrors(`tidy up the mirror of ${workspace}`, () => maintainMirror(git, mirrorOf(workspace), limits)),
    sampleRepository: () =>
      asGitErrors('make the sample repository', async () => {
        const repository = join(root, 'sample.git');
        await createSampleRepository(git, repository, scratch);
        return repository;
      }),
    forget,
    async forgetAllBut(existing) {
      const mirrored = await asGitErrors('list the mirrors', () => mirroredWorkspaces(mirrors));
      if (mirrored.length === 0) return [];
      const ids = new Set(await existing());
      const left = mirrored.filter((workspace) => !ids.has(workspace));
      for (const workspace of left) await forget(workspace);
      return left;
    },
  };
}
