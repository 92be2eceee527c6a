import { createHash } from 'node:crypto';
import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '../platform/missing-file.ts';
import { createBorrowingRepository, ensureRepository, type Mirror } from './bare-repository.ts';
import { type BranchName, branchRef } from './branch-name.ts';
import { GitError } from './git-error.ts';
import { ageOf, withScratchFolder } from './scratch.ts';
import { type Transfer, transferBranch } from './transfer.ts';

/**
 * Estimates the objects that a fetch of the branch would transfer: starts a fetch and ends it when the pack arrives, whose
 * header has the number. Numbers that the remote announces earlier (see `Progress`) count only after a timeout.
 */
export async function estimateObjects(transfer: Transfer): Promise<number> {
  const { git, mirror, branch } = transfer;
  const known = new AbortController();
  let announced: number | undefined;
  let total: number | undefined;
  try {
    await ensureRepository(git, mirror);
    await withScratchFolder(mirror.scratch, async (folder) => {
      // Its unfinished pack is removed with the folder. The refs of the mirror take part in the negotiation.
      const repository = join(folder, 'borrowing.git');
      await createBorrowingRepository(repository, mirror);
      await transferBranch({ ...transfer, repository, ref: branchRef(branch), enough: known.signal }, (progress) => {
        if (progress.kind === 'announced') announced = Math.max(announced ?? 0, progress.objects);
        else {
          total = progress.total;
          known.abort();
        }
      });
    });
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
}

/**
 * Fetches the branch into the mirror, with all its objects. Its ref there only keeps the objects for later fetches: which
 * commits are served is recorded elsewhere, after the fetch.
 */
export async function fetchBranch(transfer: Transfer, { onReceived, onActivity }: FetchEvents) {
  const { git, mirror, remote, branch } = transfer;
  const { repository } = mirror;
  const ref = fetchedRef(branch);
  let receivedObjects = 0;
  let isShallow = false;
  await ensureRepository(git, mirror);
  await removeStaleLock(mirror, ref);
  await transferBranch(
    {
      ...transfer,
      repository,
      ref,
      onErrorLine(line) {
        onActivity?.();
        isShallow ||= line.includes('because shallow roots are not allowed to be updated');
      },
    },
    (progress) => {
      if (progress.kind !== 'receiving' || progress.received === receivedObjects) return;
      receivedObjects = progress.received;
      onReceived?.(receivedObjects);
    },
  );
  const head = isShallow ? undefined : await unlessMissing(readFile(join(repository, ref), 'utf8'));
  if (head === undefined) {
    throw new GitError(
      'failed',
      `git could not fetch the branch ${branch} of ${remote.address}: it is a shallow clone, which lacks part of the history. Run git fetch --unshallow there.`,
    );
  }
  await syncFolder(join(repository, 'objects', 'pack'));
  return { head: head.trim(), receivedObjects };
}

/** A hash, because the names of two branches, such as `a` and `a/b`, may exclude each other as refs. */
const fetchedRef = (branch: BranchName): string => `refs/fetched/${createHash('sha256').update(branch).digest('hex')}`;

/** git holds the lock of a ref only briefly: an older lock was left by a killed process. */
const staleLockMs = 60_000;

async function removeStaleLock({ repository }: Mirror, ref: string): Promise<void> {
  const lock = join(repository, `${ref}.lock`);
  if ((await ageOf(lock)) > staleLockMs) await rm(lock, { force: true });
}

/** Keeps the names of new packs through a power failure. git itself syncs only their contents. */
async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder as a file, and orders its writes itself.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
