import { type BranchName, parseBranchName } from './branch-name.ts';
import type { GitCommand } from './git-command.ts';
import type { Remote } from './remote.ts';
import { remoteArguments } from './remote-access.ts';
import type { Limits } from './run-git.ts';

export interface RemoteBranches {
  /** The commit each branch is at, in the order of the remote. */
  readonly branches: ReadonlyMap<BranchName, string>;
  readonly defaultBranch: BranchName | undefined;
}

const prefix = 'refs/heads/';

function nameOf(ref: string): BranchName | undefined {
  // U+FFFD stands for bytes that are not UTF-8: a name that cannot be given back to git.
  if (!ref.startsWith(prefix) || ref.includes('\ufffd')) return undefined;
  const name = parseBranchName(ref.slice(prefix.length));
  return name.ok ? name.value : undefined;
}

/** A branch whose name the service does not accept is not listed: it could not be synced either. */
export function readBranches(listing: string): RemoteBranches {
  const branches = new Map<BranchName, string>();
  let defaultBranch: BranchName | undefined;
  for (const line of listing.split('\n')) {
    const [left = '', ref = ''] = line.split('\t');
    const name = nameOf(ref);
    if (name !== undefined && /^[0-9a-f]{40,64}$/.test(left)) branches.set(name, left);
    if (ref === 'HEAD' && left.startsWith('ref: ')) defaultBranch = nameOf(left.slice('ref: '.length));
  }
  return { branches, defaultBranch };
}

export async function listRemoteBranches(git: GitCommand, remote: Remote, limits: Limits): Promise<RemoteBranches> {
  const listing = await git(['ls-remote', '--symref', ...remoteArguments(remote), 'HEAD', `${prefix}*`], {
    purpose: `list the branches of ${remote.address}`,
    remote,
    limits,
  });
  return readBranches(listing);
}
