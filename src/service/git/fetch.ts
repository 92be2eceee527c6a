import { createHash } from 'node:crypto';
import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '../platform/missing-file.ts';
import { createBorrowingRepository, ensureRepository, type Mirror } from './bare-repository.ts';
import { type BranchHeads, type BranchName, branchRef } from './branch-name.ts';
import { GitError } from './git-error.ts';
import { listRemoteBranches } from './remote-branches.ts';
import { ageOf, withScratchFolder } from './scratch.ts';
import { type BranchTransfer, type Transfer, transferBranch, transferRefs } from './transfer.ts';

/**
 * Estimates the objects that a fetch of the branch would transfer: starts a fetch and ends it when the pack arrives, whose
 * header has the number.
 */
export async function estimateObjects(transfer: BranchTransfer): Promise<number> {
  const { mirror, branch } = transfer;
  const known = new AbortController();
  let total = 0;
  await ensureRepository(mirror);
  await withScratchFolder(mirror.scratch, async (folder) => {
    // Its unfinished pack is removed with the folder. The refs of the mirror take part in the negotiation.
    const repository = join(folder, 'borrowing.git');
    await createBorrowingRepository(repository, mirror);
    await transferBranch({ ...transfer, repository, ref: branchRef(branch), enough: known.signal }, (progress) => {
      total = progress.total;
      known.abort();
    });
  });
  return total;
}

/**
 * Fetches the branch into the mirror, with all its objects. Its ref there only keeps the objects for later fetches: which
 * commits are served is recorded elsewhere, after the fetch.
 */
export async function fetchBranch(transfer: BranchTransfer, onReceived: (objects: number) => void) {
  const { mirror, remote, branch } = transfer;
  const { repository } = mirror;
  const ref = fetchedRef(branch);
  let receivedObjects = 0;
  let isShallow = false;
  await ensureRepository(mirror);
  await removeStaleLock(mirror, ref);
  await transferBranch(
    {
      ...transfer,
      repository,
      ref,
      onErrorLine(line) {
        isShallow ||= line.includes('because shallow roots are not allowed to be updated');
      },
    },
    ({ received }) => {
      if (received === receivedObjects) return;
      receivedObjects = received;
      onReceived(receivedObjects);
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

/**
 * Fetches commits that were the heads of these branches, if the remote still has them. Fetches the branches if the remote
 * refuses the id of a commit.
 */
export async function fetchCommits(transfer: Transfer, heads: BranchHeads): Promise<void> {
  const { git, mirror, remote, limits } = transfer;
  const { repository } = mirror;
  await ensureRepository(mirror);
  for (const branch of heads.keys()) await removeStaleLock(mirror, fetchedRef(branch));
  async function fetchEach(sources: readonly (readonly [BranchName, string])[]): Promise<void> {
    for (let at = 0; at < sources.length; at += refsAtOnce) {
      const some = sources.slice(at, at + refsAtOnce);
      const refspecs = some.map(([branch, source]) => `+${source}:${fetchedRef(branch)}`);
      const what = some.length === 1 ? `the branch ${some[0]?.[0]}` : `${some.length} branches`;
      await transferRefs({ ...transfer, repository, what, refspecs });
    }
  }
  try {
    await fetchEach([...heads]);
  } catch (error) {
    if (!(error instanceof GitError && error.kind === 'failed')) throw error;
    // Fails as well if the remote does not answer at all.
    const { branches } = await listRemoteBranches(git, remote, limits);
    const listed = [...heads.keys()].filter((branch) => branches.has(branch));
    await fetchEach(listed.map((branch) => [branch, branchRef(branch)]));
  }
  await syncFolder(join(repository, 'objects', 'pack'));
}

/** They are arguments of git, whose size is limited. */
const refsAtOnce = 1_000;

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
