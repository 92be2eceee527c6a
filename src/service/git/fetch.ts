import { fetchedHead, makeRepository } from './bare-repository.ts';
import { GitError } from './git-error.ts';
import { removeAbandonedPacks } from './maintain.ts';
import { publishFetch } from './publish-fetch.ts';
import { endedBy } from './run-git.ts';
import { type Transfer, transferBeside } from './transfer.ts';

export interface Estimate {
  readonly objects: number;
  /** False where time ran out while the remote was still packing: then it is what the remote had announced so far. */
  readonly exact: boolean;
}

/**
 * Estimates the objects that a fetch of the branch would transfer: starts a fetch and ends it when the pack arrives, whose
 * header has the number. Numbers that the remote announces earlier (see `Progress`) count only when time runs out.
 */
export async function estimateObjects(transfer: Transfer): Promise<Estimate> {
  const known = new AbortController();
  let announced: number | undefined;
  let total: number | undefined;
  try {
    await makeRepository(transfer.git, transfer.mirror);
    await transferBeside(
      { ...transfer, limits: endedBy(transfer.limits, known.signal) },
      (progress) => {
        if (progress.kind === 'announced') announced = Math.max(announced ?? 0, progress.objects);
        else {
          total = progress.total;
          known.abort();
        }
      },
      async () => {},
    );
    return { objects: total ?? 0, exact: true };
  } catch (error) {
    if (total !== undefined) return { objects: total, exact: true };
    if (error instanceof GitError && error.kind === 'timeout' && announced !== undefined) {
      return { objects: announced, exact: false };
    }
    throw error;
  }
}

export interface Fetched {
  readonly head: string;
  readonly receivedObjects: number;
}

export interface FetchEvents {
  readonly onReceived?: (objects: number) => void;
  /** git or the remote reports anything at all. */
  readonly onSign?: () => void;
  /** Rejects if the mirror must not be changed any more. */
  readonly beforeLanding?: () => Promise<void>;
}

/** Fetches the branch into the mirror. It is there with all its objects afterwards, or the mirror is as it was. */
export async function fetchBranch(
  transfer: Transfer,
  { onReceived, onSign, beforeLanding }: FetchEvents,
): Promise<Fetched> {
  const { git, mirror, remote, branch } = transfer;
  let receivedObjects = 0;
  await makeRepository(git, mirror);
  // Here as well as in the upkeep: that never comes where the disk is full of what an earlier one has left.
  await removeAbandonedPacks(mirror);
  return transferBeside(
    { ...transfer, onSign },
    (progress) => {
      if (progress.kind !== 'receiving' || progress.received === receivedObjects) return;
      receivedObjects = progress.received;
      onReceived?.(receivedObjects);
    },
    async (repository) => {
      const head = await fetchedHead(repository, branch);
      if (head === undefined) {
        throw new GitError(
          'failed',
          `git could not fetch the branch ${branch} of ${remote.address}: that repository is a shallow clone and lacks part of its history. Complete it there with git fetch --unshallow.`,
        );
      }
      await beforeLanding?.();
      await publishFetch(git, repository, mirror, branch, head);
      return { head, receivedObjects };
    },
  );
}
