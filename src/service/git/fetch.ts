import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BranchName, parseBranchName } from '../../interface/branch-name.ts';
import { namesIn } from '../platform/missing-file.ts';
import {
  type BranchHeads,
  branchRef,
  createRepository,
  ensureRepository,
  type Mirror,
  withScratchFolder,
} from './bare-repository.ts';
import { type GitCommand, packSettings, withSilenceLimit } from './git-command.ts';
import { GitError } from './git-error.ts';
import { eachLine } from './git-output.ts';
import { type Remote, remoteArguments } from './remote.ts';
import { type Limits, withSignal } from './run-git.ts';

/**
 * Estimates the number of objects that a fetch of the branch would transfer: starts a fetch, and ends it after the
 * header of the pack, which contains the number.
 */
export async function estimateObjects(transfer: Transfer, branch: BranchName): Promise<number> {
  const { mirror } = transfer;
  const known = new AbortController();
  let total = 0;
  await withScratchFolder(mirror.scratch, async (folder) => {
    // The unfinished pack is removed with the folder. The negotiation uses the refs of the mirror.
    const repository = join(folder, 'borrowing.git');
    await createRepository(repository, mirror);
    const limits = withSignal(transfer.limits, known.signal);
    const estimate = { ...transfer, limits, repository, sources: branchSources([branch]) };
    await transferRefs(estimate, (progress) => {
      total = progress.total;
      known.abort();
    }).catch((error: unknown) => {
      if (!known.signal.aborted) throw error;
    });
  });
  return total;
}

/**
 * Fetches the branch into the mirror, with all of its objects. The ref there only keeps the objects for later fetches.
 * The commits to serve are recorded elsewhere, after the fetch.
 */
export async function fetchBranch(transfer: Transfer, branch: BranchName, onReceived: (objects: number) => void) {
  const { repository } = transfer.mirror;
  let receivedObjects = 0;
  await ensureRepository(transfer.mirror);
  await transferRefs({ ...transfer, repository, sources: branchSources([branch]) }, ({ received }) => {
    receivedObjects = received;
    onReceived(received);
  });
  const head = await readFile(join(repository, fetchedRef(branch)), 'utf8');
  await syncFolder(join(repository, 'objects', 'pack'));
  return { head: head.trim(), receivedObjects };
}

/**
 * Fetches commits that were heads of these branches, if the remote still has them. If the remote refuses commit ids,
 * fetches the branches instead.
 */
export async function fetchCommits(transfer: Transfer, heads: BranchHeads): Promise<void> {
  const { git, mirror, remote, limits } = transfer;
  const { repository } = mirror;
  await ensureRepository(mirror);
  try {
    await transferRefs({ ...transfer, repository, sources: heads });
  } catch (error) {
    if (!(error instanceof GitError && error.kind === 'failed')) throw error;
    // This fails, too, if the remote does not respond at all.
    const { branches } = await listRemoteBranches(git, remote, limits);
    const sources = branchSources([...heads.keys()].filter((branch) => branches.has(branch)));
    if (sources.size > 0) await transferRefs({ ...transfer, repository, sources });
  }
  await syncFolder(join(repository, 'objects', 'pack'));
}

const branchSources = (branches: readonly BranchName[]): BranchHeads =>
  new Map(branches.map((branch) => [branch, branchRef(branch)]));

/** Hashed, because two branch names, such as `a` and `a/b`, can exclude each other as refs. */
const fetchedRef = (branch: BranchName): string => `refs/fetched/${createHash('sha256').update(branch).digest('hex')}`;

/** Makes the names of new packs survive a power failure. git itself flushes only their contents. */
async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder as a file, and orders these writes itself.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

interface Progress {
  readonly received: number;
  /** Number of objects in the pack, from its header. */
  readonly total: number;
}

interface Transfer {
  readonly git: GitCommand;
  readonly mirror: Mirror;
  readonly remote: Remote;
  readonly limits: Limits;
  /** Ends a fetch if neither git nor the remote sends a message for this long. git reports all received data. */
  readonly silenceMs: number;
}

interface RefTransfer extends Transfer {
  /** Receives the objects and refs: the mirror, or a repository that reads its objects from the mirror. */
  readonly repository: string;
  /** What to fetch for each branch: its ref or a commit. */
  readonly sources: BranchHeads;
}

/** Fetches the missing objects of all sources, then moves the refs of their branches. */
async function transferRefs(
  { git, remote, limits, silenceMs, repository, sources }: RefTransfer,
  onProgress: (progress: Progress) => void = () => undefined,
): Promise<void> {
  const [branch] = sources.keys();
  const what = sources.size === 1 ? `the branch ${branch}` : `${sources.size} branches`;
  const purpose = `fetch ${what} of ${remote.address}`;
  const options = ['--progress', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--refmap='];
  const refspecs = [...sources].map(([name, source]) => `+${source}:${fetchedRef(name)}\n`);
  let isReceived = false;
  let isShallow = false;
  await withSilenceLimit({ purpose, limits, silenceMs }, (limits, heard) =>
    git(['fetch', ...options, '--stdin', ...remoteArguments(remote)], {
      purpose,
      limits,
      repository,
      remote,
      input: Buffer.from(refspecs.join('')),
      onErrorLine: (line) => {
        isShallow ||= line.includes('because shallow roots are not allowed to be updated');
        const progress = readProgress(line);
        isReceived ||= progress !== undefined && progress.received === progress.total;
        // git now processes the pack, without messages, which may take longer.
        if (isReceived) clearTimeout(heard);
        else heard.refresh();
        if (progress !== undefined) onProgress(progress);
      },
    }),
  );
  if (isShallow) {
    const reason = 'it is a shallow clone, which lacks part of the history. Run git fetch --unshallow there.';
    throw new GitError('failed', `git could not ${purpose}: ${reason}`);
  }
}

export function readProgress(line: string): Progress | undefined {
  const [, received, total] = /^Receiving objects: +\d+% \((\d+)\/(\d+)\)/.exec(line) ?? [];
  if (received === undefined || total === undefined) return undefined;
  return { received: Number(received), total: Number(total) };
}

/** With more packs, clones become slower. */
const maxPacks = 20;

/**
 * Joins small packs into larger ones, each at least twice the size of the next. The work is proportional to the fetched
 * data, and large packs are kept. Drops no objects, so fetches can run at the same time.
 */
export async function maintainMirror(git: GitCommand, { repository }: Mirror, limits: Limits): Promise<void> {
  const packs = (await namesIn(join(repository, 'objects', 'pack'))).filter((name) => name.endsWith('.pack'));
  if (packs.length <= maxPacks) return;
  await git(['repack', '--geometric=2', '-d', '-l', '--quiet'], {
    purpose: `join the packs of the mirror in ${repository}`,
    limits,
    repository,
    settings: packSettings,
  });
}

export interface RemoteBranches {
  readonly branches: ReadonlyMap<BranchName, string>;
  readonly defaultBranch: BranchName | undefined;
}

const prefix = 'refs/heads/';

/** The branches are kept in memory, and anyone with push access can create any number. */
const maxBranches = 100_000;

/** Omits branches with invalid names, which could not be synced anyway. */
export async function listRemoteBranches(git: GitCommand, remote: Remote, limits: Limits): Promise<RemoteBranches> {
  const branches = new Map<BranchName, string>();
  let defaultBranch: BranchName | undefined;
  const purpose = `list the branches of ${remote.address}`;
  await git(['ls-remote', '--symref', ...remoteArguments(remote), 'HEAD', `${prefix}*`], {
    purpose,
    remote,
    limits,
    onOutput: eachLine((line) => {
      const [left = '', ref = ''] = line.split('\t');
      const name = nameOf(ref);
      if (name !== undefined && /^[0-9a-f]{40,64}$/.test(left)) branches.set(name, left);
      if (branches.size > maxBranches) {
        throw new GitError(
          'failed',
          `git could not ${purpose}: there are more than ${maxBranches}. Delete unused branches.`,
        );
      }
      if (ref === 'HEAD' && left.startsWith('ref: ')) defaultBranch = nameOf(left.slice('ref: '.length));
    }),
  });
  return { branches, defaultBranch };
}

function nameOf(ref: string): BranchName | undefined {
  // U+FFFD replaces bytes that are not UTF-8. Such a name cannot be passed back to git.
  if (!ref.startsWith(prefix) || ref.includes('\ufffd')) return undefined;
  const name = parseBranchName(ref.slice(prefix.length));
  return name.ok ? name.value : undefined;
}
