import { ensureRepository, fetchedHead } from './bare-repository.ts';
import { GitError } from './git-error.ts';
import { removeUnfinishedPacks } from './maintain.ts';
import { publishFetch } from './publish-fetch.ts';
import { fetchIntoScratch, type Transfer } from './transfer.ts';

/**
 * Estimates the objects that a fetch of the branch would transfer: starts a fetch and ends it when the pack arrives, whose
 * header has the number. Numbers that the remote announces earlier (see `Progress`) count only after a timeout.
 */
export async function estimateObjects(transfer: Transfer): Promise<number> {
  const known = new AbortController();
  let announced: number | undefined;
  let total: number | undefined;
  try {
    await ensureRepository(transfer.git, transfer.mirror);
    await fetchIntoScratch(
      { ...transfer, enough: known.signal },
      (progress) => {
        if (progress.kind === 'announced') announced = Math.max(announced ?? 0, progress.objects);
        else {
          total = progress.total;
          known.abort();
        }
      },
      async () => {},
    );
    return total ?? 0;
  } catch (error) {
    if (error instanceof GitError && error.kind === 'timeout' && announced !== undefined) return announced;
    throw error;
  }
}

export interface FetchEvents {
  readonly onReceived?: (objects: number) => void;
  /** Called when git or the remote writes any line. */
  readonly onActivity?: () => void;
  /** Rejects if the mirror must not be changed any more. */
  readonly beforePublish?: () => Promise<void>;
}

/** Fetches the branch into the mirror, with all its objects. If it fails, the branches of the mirror are unchanged. */
export async function fetchBranch(transfer: Transfer, { onReceived, onActivity, beforePublish }: FetchEvents) {
  const { git, mirror, remote, branch } = transfer;
  let receivedObjects = 0;
  await ensureRepository(git, mirror);
  // Maintenance does this too, but does not run if abandoned packs of earlier maintenance fill the disk.
  await removeUnfinishedPacks(mirror);
  return fetchIntoScratch(
    { ...transfer, onActivity },
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
          `git could not fetch the branch ${branch} of ${remote.address}: it is a shallow clone, which lacks part of the history. Run git fetch --unshallow there.`,
        );
      }
      await beforePublish?.();
      await publishFetch(git, repository, mirror, branch, head);
      return { head, receivedObjects };
    },
  );
}
