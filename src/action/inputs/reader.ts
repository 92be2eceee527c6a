import type { Parse } from './parse.ts';
import type { InputName, RawInputs } from './table.ts';

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

/** Undefined if the value is invalid; the problem has been recorded. */
export type Read<T> = T | undefined;

export type Reader = ReturnType<typeof createReader>;

/**
 * Reads inputs one by one and collects their problems, so that users see all of them at once. `missing` has reasons for
 * empty inputs. They replace the reasons of the parsers.
 */
export function createReader(raw: RawInputs, missing: { readonly [Name in InputName]?: string } = {}) {
  const problems: string[] = [];
  const addProblem = (name: InputName, reason: string): void => {
    problems.push(`${inputText(name, raw[name])} ${reason}`);
  };
  return {
    raw,
    problems,
    addProblem,
    addLineProblem: (name: InputName, line: string, reason: string): void =>
      void problems.push(lineProblem(name, line, reason)),
    addConflict: (one: InputName, other: InputName): void =>
      void problems.push(`Inputs \`${one}\` and \`${other}\` are both set: give only one of them.`),
    read<T>(name: InputName, parse: Parse<T>): Read<T> {
      const parsed = parse(raw[name]);
      if (parsed.ok) return parsed.value;
      addProblem(name, (raw[name] === '' ? missing[name] : undefined) ?? parsed.reason);
      return undefined;
    },
  };
}

/** Returns the fields, or undefined if any of them is invalid. */
export function complete<const Fields extends object>(fields: Fields): Read<Complete<Fields>> {
  // The check rules out undefined fields.
  return Object.values(fields).includes(undefined) ? undefined : (fields as Complete<Fields>);
}

type Complete<Fields> = { readonly [Key in keyof Fields]: Exclude<Fields[Key], undefined> };

/** Inputs whose values are never shown, even if they are invalid. */
const secretInputs = new Set<InputName>(['token', 'hook-url', 'hook-secret', 'hook-options', 'github-token', 'locks']);

function inputText(name: InputName, text: string): string {
  if (text === '') return `Input \`${name}\` is missing.`;
  if (secretInputs.has(name)) return `Input \`${name}\` is not valid.`;
  return `Input \`${name}\` is ${quoted(name === 'base-url' ? withoutCredentials(text) : text)}.`;
}

export const lineProblem = (name: InputName, line: string, reason: string): string =>
  `Input \`${name}\` has the line ${quoted(line)}. ${reason}`;

const maxQuoted = 200;

const truncated = (text: string): string => (text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text);

/** A value as errors show it: on one line, and truncated if it is long. */
export const quoted = (text: string): string => JSON.stringify(truncated(text));

/** The part of a URL before an @, its query and its fragment often contain credentials. */
const withoutCredentials = (text: string): string =>
  text.replace(/^.*@/s, '***@').replace(/([?#]).+$/s, (_, mark: string) => `${mark}***`);
