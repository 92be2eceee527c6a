import { systemErrorText } from '../../interface/system-errors.ts';

type GitFailure =
  | 'timeout'
  | 'aborted'
  | 'failed'
  | 'not-installed'
  | 'not-published'
  | 'incomplete'
  | 'busy'
  | 'disk-full';

/** Failure of git. The message is a sentence for people, without credentials. */
export class GitError extends Error {
  override readonly name = 'GitError';
  readonly kind: GitFailure;

  constructor(kind: GitFailure, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Converts system errors, such as a full disk, to a GitError. `purpose` completes "git could not …". */
export async function asGitErrors<T>(purpose: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error;
    const reason = systemErrorText(String(error.code)) ?? `a system call failed (${error.code})`;
    throw new GitError('failed', `git could not ${purpose}: ${reason}.`);
  }
}
