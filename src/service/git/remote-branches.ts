import { type BranchName, parseBranchName } from './branch-name.ts';
import type { GitCommand } from './git-command.ts';
import { GitError } from './git-error.ts';
import { type Remote, remoteArguments } from './remote.ts';
import { endedBy, type Limits } from './run-git.ts';

export interface RemoteBranches {
  /** The commit each branch is at, in the order of the remote. */
  readonly branches: ReadonlyMap<BranchName, string>;
  readonly defaultBranch: BranchName | undefined;
}

const prefix = 'refs/heads/';

/** More than anybody works on; each of them takes memory here, and time of everybody else to be listed. */
export const maxBranches = 100_000;

export async function listRemoteBranches(git: GitCommand, remote: Remote, limits: Limits): Promise<RemoteBranches> {
  const collected = collectBranches();
  const tooMany = new AbortController();
  try {
    await git(['ls-remote', '--symref', ...remoteArguments(remote), 'HEAD', `${prefix}*`], {
      purpose: `list the branches of ${remote.address}`,
      remote,
      limits: endedBy(limits, tooMany.signal),
      onOutputLine(line) {
        collected.add(line);
        if (collected.listed.branches.size > maxBranches) tooMany.abort();
      },
    });
  } catch (error) {
    if (!tooMany.signal.aborted) throw error;
    throw new GitError(
      'failed',
      `${remote.address} has more than ${maxBranches} branches, and a list is limited to that. You can still sync a branch by its name.`,
    );
  }
  return collected.listed;
}

/** A branch whose name the service does not accept is not listed: it could not be synced either. */
export function collectBranches(): { add(line: string): void; readonly listed: RemoteBranches } {
  const branches = new Map<BranchName, string>();
  let defaultBranch: BranchName | undefined;
  return {
    add(line) {
      const [left = '', ref = ''] = line.split('\t');
      const name = nameOf(ref);
      if (name !== undefined && /^[0-9a-f]{40,64}$/.test(left)) branches.set(name, left);
      if (ref === 'HEAD' && left.startsWith('ref: ')) defaultBranch = nameOf(left.slice('ref: '.length));
    },
    get listed() {
      return { branches, defaultBranch };
    },
  };
}

function nameOf(ref: string): BranchName | undefined {
  // U+FFFD stands for bytes that are not UTF-8: a name that cannot be given back to git.
  if (!ref.startsWith(prefix) || ref.includes('\ufffd')) return undefined;
  const name = parseBranchName(ref.slice(prefix.length));
  return name.ok ? name.value : undefined;
}
