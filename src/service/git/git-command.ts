import { spanOfMs } from '../../interface/duration.ts';
import { systemErrorText } from '../../interface/system-errors.ts';
import { gitEnvironment } from './git-environment.ts';
import { asGitErrors, GitError } from './git-error.ts';
import { summarizeErrors } from './git-output.ts';
import { createRemoteRedactor } from './redact.ts';
import { accessSettings, type Remote } from './remote.ts';
import { type GitWork, type Limits, runProcess, withSignal } from './run-git.ts';

/** Limits of local work, which is either quick or stuck. */
export const localLimits: Limits = { timeoutMs: 60_000 };

export interface GitTask extends GitWork {
  readonly program?: 'git' | 'git-lfs';
  /** Completes the sentence "git could not …". */
  readonly purpose: string;
  readonly repository?: string | undefined;
  /** The remote it connects to. Its credentials are passed to git and redacted from errors. */
  readonly remote?: Remote | undefined;
  readonly settings?: Readonly<Record<string, string>>;
  /** Further variables of the environment. They may contain secrets. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Value of the client's `Git-Protocol` header. */
  readonly protocol?: string | undefined;
  /** Ends git once the caller has what it needs. This is not an error. */
  readonly enough?: AbortSignal | undefined;
}

/** Runs git and returns its standard output, or throws a GitError. */
export type GitCommand = (args: readonly string[], task: GitTask) => Promise<string>;

export function gitCommand(setup: {
  readonly environment: NodeJS.ProcessEnv;
  readonly allowFile: boolean;
}): GitCommand {
  return async (
    args,
    { program = 'git', purpose, repository, remote, settings, variables, protocol, enough, ...work },
  ) => {
    const environment = gitEnvironment(setup.environment, {
      allowFile: setup.allowFile,
      repository,
      protocol,
      variables,
      moreSettings: { ...settings, ...(remote && program === 'git' && accessSettings(remote)) },
    });
    const outcome = await asGitErrors(purpose, () =>
      runProcess(program, args, environment, { ...work, limits: withSignal(work.limits, enough) }),
    );
    switch (outcome.kind) {
      case 'exited':
        if (outcome.status === 0) return outcome.output;
        throw failed(
          program,
          purpose,
          summarizeErrors(outcome.errorLines.map(createRemoteRedactor(remote))) || `status ${outcome.status}.`,
        );
      case 'killed':
        throw failed(program, purpose, `it was killed with ${outcome.signal}.`);
      case 'timeout':
        throw new GitError(
          'timeout',
          `${program} did not ${purpose} within ${spanOfMs(work.limits.timeoutMs)} and was stopped. Check that the remote responds, or allow more time.`,
        );
      case 'aborted':
        if (enough?.aborted) return '';
        throw new GitError('aborted', `${program} was stopped before it could ${purpose}.`);
      case 'not-started':
        throw outcome.code === 'ENOENT'
          ? new GitError(
              'not-installed',
              `${program} could not ${purpose}: ${program} is not on the PATH of the service. Install ${oldestVersions[program]} or newer.`,
            )
          : failed(program, purpose, `it could not be started: ${systemErrorText(outcome.code) ?? outcome.code}.`);
      case 'too-much-output':
        throw failed(program, purpose, 'its output is too large.');
    }
  };
}

export const inRepository =
  (git: GitCommand, repository: string): GitCommand =>
  (args, task) =>
    git(args, { ...task, repository });

const oldestVersions = { git: 'git 2.39', 'git-lfs': 'git-lfs 3.3' };

const failed = (program: string, purpose: string, output: string): GitError =>
  new GitError('failed', `${program} could not ${purpose}: ${output}`, output);
