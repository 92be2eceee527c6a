import { closestNames } from './closest-name.ts';
import { accepted, type Parsed, refused } from './parsed.ts';

/** Parses a value that must be one of these names. */
export const oneOf =
  <const Name extends string>(names: readonly Name[], allowed = `It must be one of ${names.join(', ')}.`) =>
  (text: string): Parsed<Name> => {
    const found = names.find((name) => name === text);
    return found === undefined ? refused(`${didYouMean(text, names)}${allowed}`) : accepted(found);
  };

/** A question with a trailing space, to be followed by the list of valid names. Empty if no name is similar. */
export function didYouMean(typed: string, names: Iterable<string>): string {
  const [name] = closestNames(typed, names);
  return name === undefined ? '' : `Did you mean ${name}? `;
}
