import { existsSync } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { workspaceFolder, workspaceOfFolder } from '../platform/workspace-folder.ts';
import { headOf, isRepository, type Mirror, makeRepository, setDefaultBranch } from './bare-repository.ts';
import type { BranchName } from './branch-name.ts';
import { estimateObjects, type FetchEvents, fetchBranch } from './fetch.ts';
import { gitCommand, localLimits } from './git-command.ts';
import { asGitErrors } from './git-error.ts';
import { type FolderQuery, listFolder } from './list-folder.ts';
import { maintainMirror } from './maintain.ts';
import type { Remote } from './remote.ts';
import { listRemoteBranches } from './remote-branches.ts';
import type { Limits } from './run-git.ts';
import { createSampleRepository } from './sample-repository.ts';
import { inScratchFolder } from './scratch.ts';
import { advertise, answerUploadPack, type ServeTask } from './serve-mirror.ts';
import { type Blob, readSmallBlobs, type SmallBlobs } from './small-blobs.ts';
import { lfsAuthenticate } from './ssh.ts';
import { type MinTransferSpeed, minTransferSpeed } from './transfer-speed.ts';
import type { UploadPackRequest } from './upload-pack-request.ts';

export type Git = ReturnType<typeof createGit>;

export interface GitOptions {
  /** Mirrors are kept in here. Instances may share it. */
  readonly dataFolder: string;
  readonly allowFile: boolean;
  /** The operator's environment. Little of it reaches git: the path, the proxy, and how ssh and TLS are set up. */
  readonly environment: NodeJS.ProcessEnv;
  readonly minSpeed?: MinTransferSpeed | undefined;
}

const ending = '.git';

type ServedMirror = Omit<ServeTask, 'git' | 'mirror'>;

/** All that the service does with git. What goes wrong is a GitError. */
export function createGit({ dataFolder, allowFile, environment, minSpeed = minTransferSpeed }: GitOptions) {
  const git = gitCommand({ environment, allowFile });
  const root = resolve(dataFolder);
  const scratch = join(root, 'scratch');
  const mirrors = join(root, 'mirrors');
  const mirrorOf = (workspace: string): Mirror => ({
    repository: join(mirrors, `${workspaceFolder(workspace)}${ending}`),
    scratch,
  });

  /** Removes the mirror of a workspace that was removed. */
  const forget = (workspace: string): Promise<void> =>
    asGitErrors(`remove the mirror of ${workspace}`, async () => {
      const { repository } = mirrorOf(workspace);
      // It need not be a whole repository.
      if (!existsSync(repository)) return;
      await inScratchFolder(scratch, async (folder) => {
        await rename(repository, join(folder, 'forgotten.git')).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT') throw error;
        });
      });
    });

  return {
    /** The version of the git that is installed. */
    async version(): Promise<string> {
      const response = await git(['version'], { purpose: 'tell its version', limits: localLimits });
      return response.replace(/^git version /, '').trim();
    },
    branches: (remote: Remote, limits: Limits) => listRemoteBranches(git, remote, limits),
    /** The commit of the branch when it was last fetched. */
    head: (workspace: string, branch: BranchName) =>
      asGitErrors(`read the branch ${branch} of the mirror`, async () => {
        const mirror = mirrorOf(workspace);
        await makeRepository(git, mirror);
        return headOf(git, mirror.repository, branch);
      }),
    /** The branch that clones check out, if it has been synced. No effect without a mirror. */
    setDefaultBranch: (workspace: string, branch: BranchName) =>
      asGitErrors(`set the default branch of the mirror to ${branch}`, () =>
        setDefaultBranch(mirrorOf(workspace), branch),
      ),
    /** Contents of a folder of the mirror, at a commit that was fetched. */
    listFolder: (workspace: string, query: FolderQuery) =>
      asGitErrors(`list a folder of the mirror of ${workspace}`, () =>
        listFolder(git, mirrorOf(workspace).repository, query),
      ),
    estimate: (workspace: string, remote: Remote, branch: BranchName, limits: Limits) =>
      asGitErrors(`begin to fetch the branch ${branch} of ${remote.address}`, () =>
        estimateObjects({ git, mirror: mirrorOf(workspace), remote, branch, limits, minSpeed }),
      ),
    fetch: (workspace: string, remote: Remote, branch: BranchName, limits: Limits, events: FetchEvents = {}) =>
      asGitErrors(`fetch the branch ${branch} of ${remote.address}`, () =>
        fetchBranch({ git, mirror: mirrorOf(workspace), remote, branch, limits, minSpeed }, events),
      ),
    /** Hands over the small files of a commit that was fetched. */
    smallBlobs: (workspace: string, wanted: SmallBlobs, limits: Limits, onBlob: (blob: Blob) => void) =>
      asGitErrors(`read the files of ${wanted.commit}`, () =>
        readSmallBlobs(git, mirrorOf(workspace).repository, wanted, limits, onBlob),
      ),
    lfsAuthenticate: (remote: Remote, limits: Limits) => lfsAuthenticate(environment, remote, limits),
    /** Keeps the mirror quick. Worth doing after a fetch; failing does no harm. */
    maintain: (workspace: string, limits: Limits) =>
      asGitErrors(`tidy up the mirror of ${workspace}`, async () => {
        const mirror = mirrorOf(workspace);
        try {
          await maintainMirror(git, mirror, limits);
        } finally {
          // Another process removed the workspace: git made its folders again for the pack that it was writing.
          if (!(await isRepository(mirror.repository))) await forget(workspace);
        }
      }),
    /** Makes a small repository to try the service with, once, and gives its path. Needs `allowFile` to be of use. */
    sampleRepository: () =>
      asGitErrors('make the sample repository', async () => {
        const repository = join(root, 'sample.git');
        await createSampleRepository(git, { repository, scratch });
        return repository;
      }),
    /** Answers the first request of a client that reads the mirror. */
    advertise: (workspace: string, task: ServedMirror) =>
      asGitErrors(`serve the mirror of ${workspace}`, () => advertise({ ...task, git, mirror: mirrorOf(workspace) })),
    /** Answers what a client asks of the mirror, with one of these branches or of the former heads leading to all of it. */
    uploadPack: (
      workspace: string,
      task: ServedMirror,
      request: UploadPackRequest,
      formerHeads: () => Promise<readonly string[]>,
    ) =>
      asGitErrors(`serve the mirror of ${workspace}`, () =>
        answerUploadPack({ ...task, git, mirror: mirrorOf(workspace) }, request, formerHeads),
      ),
    forget,
    /**
     * Removes the mirrors of all workspaces that no longer exist, and returns their ids; mirrors that are broken go as
     * well, to be fetched again. The workspaces are listed when the
     * mirrors are known, so that one that another instance has just made is not taken for one that is left over.
     */
    async removeAllExcept(existing: () => Promise<readonly string[]>): Promise<readonly string[]> {
      const mirrored = await asGitErrors('list the mirrors', () => mirroredWorkspaces(mirrors));
      if (mirrored.length === 0) return [];
      const ids = new Set(await existing());
      const left = mirrored.filter((workspace) => !ids.has(workspace));
      for (const workspace of mirrored) {
        if (!ids.has(workspace) || !(await isRepository(mirrorOf(workspace).repository))) await forget(workspace);
      }
      return left;
    },
  };
}

/** The workspaces that have a mirror. */
async function mirroredWorkspaces(mirrors: string): Promise<readonly string[]> {
  const folders = await readdir(mirrors).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return folders.flatMap((folder) => {
    const workspace = folder.endsWith(ending) ? workspaceOfFolder(folder.slice(0, -ending.length)) : undefined;
    return workspace === undefined ? [] : [workspace];
  });
}
