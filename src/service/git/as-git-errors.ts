import { systemErrorText } from '../system-errors.ts';
import { GitError } from './git-error.ts';

/** Whatever the disk or the system refuse on the way is a GitError as well. `purpose` completes "git could not …". */
export async function asGitErrors<T>(purpose: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error;
    const code = String(error.code);
    const text = systemErrorText(code) ?? `a call to the system failed (${code})`;
    throw new GitError('failed', `git could not ${purpose}: ${text}.`);
  }
}
