/**
 * An invalid input that was found only by reading files. Thrown before the first request, so nothing has changed yet.
 */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join(' '));
    this.problems = problems;
  }
}
