import { closestNames } from './closest-name.ts';

/** The result of parsing untrusted input: a valid value, or a sentence with the reason why there is none. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

export const accepted = <T>(value: T): Parsed<T> => ({ ok: true, value });

export const refused = (reason: string): Parsed<never> => ({ ok: false, reason });

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
