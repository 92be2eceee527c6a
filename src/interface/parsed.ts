import { closestNames } from './closest-name.ts';

/** The result of parsing untrusted input: a valid value, or a sentence with the reason why it is invalid. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

export type Parse<T> = (text: string) => Parsed<T>;

export const accepted = <T>(value: T): Parsed<T> => ({ ok: true, value });

/**
 * C0, DEL and C1, like `\p{Cc}`. V8 takes longer to look up such a class, each time, than to run the rest of a check.
 */
export const controlCharacter = /[^ -~\u00a0-\uffff]/;

export const refused = (reason: string): Parsed<never> => ({ ok: false, reason });

/** Parses a name or another single-line text. `what` completes the sentence "It must be …". */
export const textOf =
  (what: string): Parse<string> =>
  (text) =>
    text === '' || controlCharacter.test(text) ? refused(`It must be ${what}.`) : accepted(text);

export const wholeNumber =
  (min: number, max: number): Parse<number> =>
  (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return number >= min && number <= max
      ? accepted(number)
      : refused(`It must be a whole number from ${min} to ${max}.`);
  };

/** Number of paths, or of items of a pool, to lock. */
export const parseAny = wholeNumber(1, 999_999);

/** Parses a property of the items of a pool. */
export function parseNameValue(text: string): Parsed<readonly [name: string, value: string]> {
  const [, name, value] = /^([^=]+)=(.+)$/s.exec(text)?.map((part) => part.trim()) ?? [];
  return name && value ? accepted([name, value]) : refused('It must be a name and a value, such as host=b1.');
}

/** Parses a value that must be one of these names. */
export const oneOf =
  <const Name extends string>(names: readonly Name[], allowed = `It must be one of ${names.join(', ')}.`) =>
  (text: string): Parsed<Name> => {
    const found = names.find((name) => name === text);
    return found === undefined ? refused(`${didYouMean(text, names)}${allowed}`) : accepted(found);
  };

/** A question with a trailing space, to be followed by the list of valid names. Empty if none is similar. */
export function didYouMean(typed: string, names: Iterable<string>): string {
  const [name] = closestNames(typed, names);
  return name === undefined ? '' : `Did you mean ${name}? `;
}
