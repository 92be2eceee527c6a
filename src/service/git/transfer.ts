import { spanOfMs } from '../../interface/duration.ts';
import type { Mirror } from './bare-repository.ts';
import { type BranchName, branchRef } from './branch-name.ts';
import type { GitCommand } from './git-command.ts';
import { GitError } from './git-error.ts';
import { type Remote, remoteArguments } from './remote.ts';
import { type Limits, withSignal } from './run-git.ts';

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
  readonly silenceMs?: number | undefined;
}

export interface BranchTransfer extends Transfer {
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
export async function transferBranch(
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
export async function transferRefs(
  { git, remote, limits, silenceMs = 60_000, repository, what, refspecs, onErrorLine, enough }: RefTransfer,
  onProgress: (progress: Progress) => void = () => undefined,
): Promise<void> {
  const options = ['--progress', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--refmap='];
  const silent = new AbortController();
  const silence = setTimeout(() => silent.abort(), silenceMs);
  let isReceived = false;
  try {
    await git(['fetch', ...options, ...remoteArguments(remote), ...refspecs], {
      purpose: `fetch ${what} of ${remote.address}`,
      limits: withSignal(limits, silent.signal),
      enough,
      repository,
      remote,
      onErrorLine: (line) => {
        onErrorLine?.(line);
        const progress = readProgress(line);
        isReceived ||= progress !== undefined && progress.received === progress.total;
        // Afterwards, git processes the pack, which may take longer.
        if (isReceived) clearTimeout(silence);
        else silence.refresh();
        if (progress !== undefined) onProgress(progress);
      },
    });
  } catch (error) {
    if (error instanceof GitError && error.kind === 'aborted' && silent.signal.aborted) {
      throw new GitError(
        'timeout',
        `git could not fetch ${what} of ${remote.address}: nothing arrived for ${spanOfMs(silenceMs)}. Check the remote and the network between.`,
      );
    }
    throw error;
  } finally {
    clearTimeout(silence);
  }
}

export function readProgress(line: string): Progress | undefined {
  const [, received, total] = /^Receiving objects: +\d+% \((\d+)\/(\d+)\)/.exec(line) ?? [];
  if (received === undefined || total === undefined) return undefined;
  return { received: Number(received), total: Number(total) };
}
