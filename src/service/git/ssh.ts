import { gitEnvironment } from './git-environment.ts';
import { GitError } from './git-error.ts';
import { summarizeErrors } from './git-output.ts';
import { createRemoteRedactor } from './redact.ts';
import type { Remote } from './remote.ts';
import { type Limits, runProcess } from './run-git.ts';

export type SshRemote = Remote & Required<Pick<Remote, 'ssh'>>;

/**
 * Requests the LFS endpoint and its credentials from the host of an ssh remote, and returns the unparsed response
 * (https://github.com/git-lfs/git-lfs/blob/main/docs/api/server-discovery.md). Starts ssh the same way as git does.
 */
export async function lfsAuthenticate(operator: NodeJS.ProcessEnv, remote: SshRemote, limits: Limits): Promise<string> {
  const { login, port, path } = remote.ssh;
  const environment = gitEnvironment(operator, { allowFile: false });
  const args = [...(port === undefined ? [] : ['-p', port]), login, `git-lfs-authenticate ${quoted(path)} download`];
  const { GIT_SSH_COMMAND: command, GIT_SSH: program } = environment;
  const outcome =
    command === undefined
      ? await runProcess(program ?? 'ssh', args, environment, { limits })
      : await runProcess('sh', ['-c', `${command} "$@"`, 'ssh', ...args], environment, { limits });
  if (outcome.kind === 'exited' && outcome.status === 0) return outcome.output;
  if (outcome.kind === 'aborted') throw new GitError('aborted', 'ssh was stopped.');
  const output = outcome.kind === 'exited' ? summarizeErrors(outcome.errorLines.map(createRemoteRedactor(remote))) : '';
  const reason = outcome.kind === 'timeout' ? 'it did not answer in time' : output || 'it gave no reason';
  throw new GitError('failed', `${login} did not return the URL of the LFS objects (git-lfs-authenticate): ${reason}.`);
}

/** Quotes the path for a remote shell, as git does. Most servers parse the command themselves and need no quotes. */
const quoted = (path: string): string =>
  /^[\w./~@+-]+$/.test(path) ? path : `'${path.replaceAll(/['!]/g, "'\\$&'")}'`;
