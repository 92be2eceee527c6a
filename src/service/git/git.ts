import { rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { headOf } from './bare-repository.ts';
import type { BranchName } from './branch-name.ts';
import { type Estimate, estimateObjects } from './estimate.ts';
import { type Fetched, fetchBranch } from './fetch.ts';
import { gitCommand, localLimits } from './git-command.ts';
import { maintainMirror } from './maintain.ts';
import { type Mirror, openMirror } from './mirror.ts';
import type { Remote } from './remote.ts';
import { listRemoteBranches, type RemoteBranches } from './remote-branches.ts';
import type { Limits } from './run-git.ts';
import { createSampleRepository } from './sample-repository.ts';
import { inScratchFolder } from './scratch.ts';

export interface GitOptions {
  /** Mirrors are kept in here. Instances may share it. */
  readonly dataFolder: string;
  readonly allowFile: boolean;
  /** The operator's environment. Little of it reaches git: the path, the proxy, and how ssh and TLS are set up. */
  readonly environment: NodeJS.ProcessEnv;
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
  /** Removes the mirror of a workspace that is no more. */
  forget(workspace: string): Promise<void>;
}

/** One name of a folder for each identifier, also where a disk takes upper and lower case for the same. */
const folderName = (workspace: string): string =>
  [...Buffer.from(workspace)]
    .map((byte) => String.fromCharCode(byte))
    .map((character) => (/[a-z0-9_-]/.test(character) ? character : `%${character.charCodeAt(0).toString(16)}`))
    .join('');

export function createGit({ dataFolder, allowFile, environment }: GitOptions): Git {
  const git = gitCommand({ environment, allowFile });
  const root = resolve(dataFolder);
  const scratch = join(root, 'scratch');
  const mirrorOf = (workspace: string): Mirror => ({
    repository: join(root, 'mirrors', `${folderName(workspace)}.git`),
    scratch,
  });

  return {
    async version() {
      const answer = await git(['version'], { purpose: 'tell its version', limits: localLimits });
      return answer.replace(/^git version /, '').trim();
    },
    branches: (remote, limits) => listRemoteBranches(git, remote, limits),
    async head(workspace, branch) {
      const { repository } = await openMirror(git, mirrorOf(workspace));
      return headOf(git, repository, branch);
    },
    estimate: (workspace, remote, branch, limits) => estimateObjects(git, mirrorOf(workspace), remote, branch, limits),
    fetch: (workspace, remote, branch, limits, onReceived = () => {}) =>
      fetchBranch(git, mirrorOf(workspace), remote, branch, limits, onReceived),
    maintain: (workspace, limits) => maintainMirror(git, mirrorOf(workspace), limits),
    async sampleRepository() {
      const repository = join(root, 'sample.git');
      await createSampleRepository(git, repository, scratch);
      return repository;
    },
    forget: (workspace) =>
      inScratchFolder(scratch, async (folder) => {
        await rename(mirrorOf(workspace).repository, join(folder, 'forgotten.git')).catch(
          (error: NodeJS.ErrnoException) => {
            if (error.code !== 'ENOENT') throw error;
          },
        );
      }),
  };
}
