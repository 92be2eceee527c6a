import { fetchedHead, type Mirror, openMirror } from './bare-repository.ts';
import type { BranchName } from './branch-name.ts';
import type { GitCommand } from './git-command.ts';
import { GitError } from './git-error.ts';
import { land } from './land.ts';
import { removeAbandonedPacks } from './maintain.ts';
import type { Remote } from './remote.ts';
import type { Limits } from './run-git.ts';
import { type Progress, transferBeside } from './transfer.ts';
import type { MinTransferSpeed } from './transfer-speed.ts';

export interface Fetched {
  readonly head: string;
  readonly receivedObjects: number;
}

/** Fetches the branch into the mirror. It is there with all its objects afterwards, or the mirror is as it was. */
export async function fetchBranch(
  git: GitCommand,
  mirror: Mirror,
  remote: Remote,
  branch: BranchName,
  limits: Limits,
  minSpeed: MinTransferSpeed,
  onReceived: (objects: number) => void,
): Promise<Fetched> {
  let receivedObjects = 0;
  await openMirror(git, mirror);
  // Here as well as in the upkeep: that never comes where the disk is full of what an earlier one has left.
  await removeAbandonedPacks(mirror);
  const transfer = {
    mirror,
    remote,
    branch,
    limits,
    minSpeed,
    onProgress: (progress: Progress) => {
      if (progress.kind !== 'receiving' || progress.received === receivedObjects) return;
      receivedObjects = progress.received;
      onReceived(receivedObjects);
    },
  };
  return transferBeside(git, transfer, async (repository) => {
    const head = await fetchedHead(repository, branch);
    if (head === undefined) {
      throw new GitError(
        'failed',
        `git could not fetch the branch ${branch} of ${remote.address}: that repository is a shallow clone and lacks part of its history. Complete it there with git fetch --unshallow.`,
      );
    }
    await land(git, repository, mirror, branch, head);
    return { head, receivedObjects };
  });
}
