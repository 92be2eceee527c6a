export type GitFailure = 'timeout' | 'aborted' | 'failed' | 'not-installed' | 'no-such-branch' | 'busy';

/** What went wrong with git. The message is a sentence for a person and holds no credential. */
export class GitError extends Error {
  override readonly name = 'GitError';
  readonly kind: GitFailure;
  /** What git printed about it, shortened and without credentials. */
  readonly said: string;

  constructor(kind: GitFailure, message: string, said = '') {
    super(message);
    this.kind = kind;
    this.said = said;
  }
}
