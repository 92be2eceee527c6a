import type { BranchName } from '../git/branch-name.ts';
import type { Estimate } from '../git/fetch.ts';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { parseRemote } from '../git/remote.ts';
import type { RemoteBranches } from '../git/remote-branches.ts';
import type { Limits } from '../git/run-git.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import type { StoredWorkspace } from './workspaces.ts';

/**
 * Requests start git processes, at most this many at a time. One workspace gets at most half of them: a remote that
 * does not answer takes no more than that.
 */
const processes = {
  max: 8,
  maxPerKey: 4,
  timeout: {
    ms: 5_000,
    error: () => new GitError('busy', 'Too many remotes are being asked at the moment. Ask again in a few seconds.'),
  },
};

export interface RemotesOptions {
  readonly git: Git;
  readonly allowFile: boolean;
}

/** Requests to remotes. Every failure is a GitError. */
export interface Remotes {
  /** `onBegin` is called when the remote is about to be asked: it may have to wait until then. */
  branches(workspace: StoredWorkspace, limits: Limits, onBegin?: () => void): Promise<RemoteBranches>;
  estimate(workspace: StoredWorkspace, branch: BranchName, limits: Limits): Promise<Estimate>;
}

export function createRemotes({ git, allowFile }: RemotesOptions): Remotes {
  const limitProcesses = limitParallel(processes);

  const remoteOf = ({ remote }: StoredWorkspace) => {
    const parsed = parseRemote(remote, { allowFile });
    if (!parsed.ok) throw new GitError('failed', parsed.reason);
    return parsed.value;
  };

  return {
    branches: (workspace, limits, onBegin) =>
      limitProcesses(workspace.id, async () => {
        onBegin?.();
        return git.branches(remoteOf(workspace), limits);
      }),
    estimate: (workspace, branch, limits) =>
      limitProcesses(workspace.id, async () => git.estimate(workspace.id, remoteOf(workspace), branch, limits)),
  };
}

/** The remote of a workspace may change while it is being asked. */
export const remoteKey = ({ id, remote }: StoredWorkspace): string => JSON.stringify([id, remote]);
