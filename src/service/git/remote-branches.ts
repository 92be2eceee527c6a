import { type BranchName, parseBranchName } from '../../interface/branch-name.ts';
import type { GitCommand } from './git-command.ts';
import { GitError } from './git-error.ts';
import { eachLine } from './git-output.ts';
import { type Remote, remoteArguments } from './remote.ts';
import type { Limits } from './run-git.ts';

export interface RemoteBranches {
  readonly branches: ReadonlyMap<BranchName, string>;
  readonly defaultBranch: BranchName | undefined;
}

const prefix = 'refs/heads/';

/** They are kept in memory, and anyone who may push can create any number. */
const maxBranches = 100_000;

/** Branches with invalid names are omitted: they could not be synced either. */
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
          `git could not ${purpose}: there are more than ${maxBranches}. Delete those that nobody needs.`,
        );
      }
      if (ref === 'HEAD' && left.startsWith('ref: ')) defaultBranch = nameOf(left.slice('ref: '.length));
    }),
  });
  return { branches, defaultBranch };
}

function nameOf(ref: string): BranchName | undefined {
  // U+FFFD replaces bytes that are not UTF-8: such a name cannot be passed back to git.
  if (!ref.startsWith(prefix) || ref.includes('\ufffd')) return undefined;
  const name = parseBranchName(ref.slice(prefix.length));
  return name.ok ? name.value : undefined;
}
