import type { BranchName } from '../git/branch-name.ts';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { parseRemote, type Remote } from '../git/remote.ts';
import type { RemoteBranches } from '../git/remote-branches.ts';
import type { Limits } from '../git/run-git.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import type { StoredWorkspace } from './workspaces.ts';

/** One workspace gets few of the processes: some remotes that do not respond cannot use them all. */
const processes = {
  max: 8,
  maxPerKey: 2,
  timeout: {
    // Earlier than callers give up, which take a remote without a response for a silent one.
    ms: 3_000,
    error: () => new GitError('busy', 'Too many remotes are being queried. Try again in a few seconds.'),
  },
};

interface RemotesOptions {
  readonly git: Git;
  readonly allowFile: boolean;
}

/** Throws a GitError if the service may not use the remote. */
export function remoteOf({ remote }: StoredWorkspace, allowFile: boolean): Remote {
  const parsed = parseRemote(remote, { allowFile });
  if (!parsed.ok) throw new GitError('failed', parsed.reason);
  return parsed.value;
}

export type Remotes = ReturnType<typeof createRemotes>;

/** Requests to remotes. Every failure is a GitError. */
export function createRemotes({ git, allowFile }: RemotesOptions) {
  const limitProcesses = limitParallel(processes);

  return {
    /** `onStart` is called just before the remote is asked, after any wait for a free slot. */
    branches: (workspace: StoredWorkspace, limits: Limits, onStart?: () => void): Promise<RemoteBranches> =>
      limitProcesses(workspace.id, async () => {
        onStart?.();
        return git.branches(remoteOf(workspace, allowFile), limits);
      }),
    estimate: (workspace: StoredWorkspace, branch: BranchName, limits: Limits): Promise<number> =>
      limitProcesses(workspace.id, async () =>
        git.estimate(workspace.id, remoteOf(workspace, allowFile), branch, limits),
      ),
  };
}

export const listBranchesTimeout = { timeoutMs: 10_000 };
