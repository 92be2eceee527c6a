import { createGit } from '../../git/git.ts';
import { GitError } from '../../git/git-error.ts';
import type { Remote } from '../../git/remote.ts';
import type { RemoteBranches } from '../../git/remote-branches.ts';
import { CommandError } from '../definition/command.ts';
import { toggle } from '../definition/flags.ts';

export const remoteFlags = {
  noCheck: toggle('store the remote without contacting it'),
  allowFileRemotes: toggle('allow a repository on this machine as the remote'),
};

interface GivenRemote {
  /** The data folder. */
  readonly data: string;
  /** May be a file: connectionProblem() checks it against `allowFileRemotes`. */
  readonly remote: { readonly remote: Remote } | undefined;
  readonly noCheck: boolean;
  readonly allowFileRemotes: boolean;
}

export const connectionProblem = ({ remote, allowFileRemotes }: Pick<GivenRemote, 'remote' | 'allowFileRemotes'>) =>
  remote?.remote.kind === 'file' && !allowFileRemotes
    ? ['--remote is a repository on this machine. Allow it with --allow-file-remotes, here and for the service.']
    : [];

const queueTimeout = { timeoutMs: 10_000 };

/** Null if the remote is not contacted: with --no-check or without a remote. */
export async function askRemote(
  { data, remote, noCheck, allowFileRemotes }: GivenRemote,
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

export function remoteSummary(asked: RemoteBranches | null): string {
  if (asked === null) return 'The remote was not contacted.';
  const { branches, defaultBranch } = asked;
  if (branches.size === 0) return 'The remote responds; it has no branches yet.';
  const main = defaultBranch === undefined ? '' : `, ${defaultBranch} by default`;
  return `The remote responds; it has ${branches.size === 1 ? 'one branch' : `${branches.size} branches`}${main}.`;
}
