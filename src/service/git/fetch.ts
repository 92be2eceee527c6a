import { createHash } from 'node:crypto';
import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '../platform/missing-file.ts';
import { createBorrowingRepository, ensureRepository, isRepository, type Mirror } from './bare-repository.ts';
import { type BranchHeads, type BranchName, branchRef } from './branch-name.ts';
import { type GitCommand, withSilenceLimit } from './git-command.ts';
import { GitError } from './git-error.ts';
import { type Remote, remoteArguments } from './remote.ts';
import { listRemoteBranches } from './remote-branches.ts';
import type { Limits } from './run-git.ts';
import { ageOf, withScratchFolder } from './scratch.ts';

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

interface Progress {
  readonly received: number;
  /** Number of objects in the pack, from its header. */
  readonly total: number;
}

export interface Transfer {
  readonly git: GitCommand;
  readonly mirror: Mirror;
  readonly remote: Remote;
  readonly limits: Limits;
  /** A fetch without any message of git or the remote for this long is ended: git reports all that arrives. */
  readonly silenceMs: number;
}

interface BranchTransfer extends Transfer {
  readonly branch: BranchName;
}

interface RefTransfer extends Transfer {
  /** Receives the objects and the refs: the mirror, or a repository that reads its objects from the mirror. */
  readonly repository: string;
  /** Completes the sentence "git could not fetch …". */
  readonly what: string;
  readonly refspecs: readonly string[];
  /** Called when git or the remote writes any line. */
  readonly onErrorLine?: ((line: string) => void) | undefined;
  /** Ends the fetch once the caller knows enough. This is not an error. */
  readonly enough?: AbortSignal | undefined;
}

/** Fetches the missing objects of the branch, and then moves the ref to its head. */
async function transferBranch(
  { branch, ref, ...transfer }: BranchTransfer & Omit<RefTransfer, 'what' | 'refspecs'> & { readonly ref: string },
  onProgress: (progress: Progress) => void,
): Promise<void> {
  try {
    const refspecs = [`+${branchRef(branch)}:${ref}`];
    await transferRefs({ ...transfer, what: `the branch ${branch}`, refspecs }, onProgress);
  } catch (error) {
    if (error instanceof GitError && error.output.includes("couldn't find remote ref")) {
      throw new GitError('no-such-branch', `There is no branch ${branch} in ${transfer.remote.address}.`, error.output);
    }
    throw error;
  }
}

/** Fetches the missing objects of all refspecs, and then moves their refs. */
async function transferRefs(
  { git, remote, limits, silenceMs, repository, what, refspecs, onErrorLine, enough }: RefTransfer,
  onProgress: (progress: Progress) => void = () => undefined,
): Promise<void> {
  const options = ['--progress', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--refmap='];
  const purpose = `fetch ${what} of ${remote.address}`;
  let isReceived = false;
  await withSilenceLimit({ purpose, limits, silenceMs }, (limits, heard) =>
    git(['fetch', ...options, ...remoteArguments(remote), ...refspecs], {
      ...{ purpose, limits, enough, repository, remote },
      onErrorLine: (line) => {
        onErrorLine?.(line);
        const progress = readProgress(line);
        isReceived ||= progress !== undefined && progress.received === progress.total;
        // Afterwards, git processes the pack, which may take longer.
        if (isReceived) clearTimeout(heard);
        else heard.refresh();
        if (progress !== undefined) onProgress(progress);
      },
    }),
  );
}

export function readProgress(line: string): Progress | undefined {
  const [, received, total] = /^Receiving objects: +\d+% \((\d+)\/(\d+)\)/.exec(line) ?? [];
  if (received === undefined || total === undefined) return undefined;
  return { received: Number(received), total: Number(total) };
}

/**
 * Joins small packs into larger ones, each at least twice as large as the next: the work is proportional to the fetched
 * data, and large packs stay. No object is dropped, so fetches may run at the same time.
 */
export async function maintainMirror(git: GitCommand, { repository }: Mirror, limits: Limits): Promise<void> {
  if (!(await isRepository(repository))) return;
  await git(['repack', '--geometric=2', '-d', '-l', '--quiet'], {
    purpose: `join the packs of the mirror in ${repository}`,
    limits,
    repository,
  });
}
