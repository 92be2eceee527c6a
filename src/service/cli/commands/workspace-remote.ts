import { pluralize } from '../../../interface/format.ts';
import { createGit } from '../../git/git.ts';
import { GitError } from '../../git/git-error.ts';
import type { Remote } from '../../git/remote.ts';
import type { RemoteBranches } from '../../git/remote-branches.ts';
import { CommandError } from '../definition/command.ts';
import { type FlagValues, toggle } from '../definition/flags.ts';

export const remoteFlags = {
  noCheck: toggle('store the remote without contacting it'),
  allowFileRemotes: toggle('allow a repository on this machine as the remote'),
};

interface RemoteFlagValues extends FlagValues<typeof remoteFlags> {
  /** May be a file: connectionProblem() checks it against `allowFileRemotes`. */
  readonly remote: { readonly remote: Remote } | undefined;
}

export const connectionProblem = ({ remote, allowFileRemotes }: RemoteFlagValues) =>
  remote?.remote.kind === 'file' && !allowFileRemotes
    ? ['--remote is a repository on this machine. Allow it with --allow-file-remotes, here and for the service.']
    : [];

const queueTimeout = { timeoutMs: 10_000 };

/** Null if the remote is not contacted: with --no-check or without a remote. */
export async function contactRemote(
  { data, remote, noCheck, allowFileRemotes }: RemoteFlagValues & { readonly data: string },
  environment: NodeJS.ProcessEnv,
  done: 'added' | 'changed',
): Promise<RemoteBranches | null> {
  if (noCheck || remote === undefined) return null;
  const git = createGit({ dataFolder: data, allowFile: allowFileRemotes, environment });
  try {
    return await git.branches(remote.remote, queueTimeout);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    // The output of git may end without a period.
    const sentence = error.message.replace(/[^.!?]$/, '$&.');
    throw new CommandError(
      `${sentence} Nothing was ${done}. Use --no-check to store it without contacting the remote.`,
    );
  }
}

export function remoteSummary(remote: RemoteBranches | null): string {
  if (remote === null) return 'The remote was not contacted.';
  const { branches, defaultBranch } = remote;
  if (branches.size === 0) return 'The remote responds; it has no branches yet.';
  const main = defaultBranch === undefined ? '' : `, ${defaultBranch} by default`;
  return `The remote responds; it has ${pluralize(branches.size, 'branch', 'branches')}${main}.`;
}
