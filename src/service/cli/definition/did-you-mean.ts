import { closestName } from '../../../interface/closest-name.ts';

/** A question with a trailing space, to be followed by the list of valid names. Empty if no name is similar. */
export function didYouMean(typed: string, names: Iterable<string>): string {
  const name = closestName(typed, names);
  return name === undefined ? '' : `Did you mean ${name}? `;
}
