import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import type { Field } from '../../contract/field.ts';
import { quoted } from '../output/print.ts';

export interface Flag<T> {
  /** Represents the value in the help. Empty for a switch. */
  readonly placeholder: string;
  readonly description: string;
  /** Default in the help: `required`, or a value. */
  readonly otherwise: string;
  /** This argument also takes all arguments after it. */
  readonly takesRest?: true;
  /** This flag also takes the words after its value, up to the next flag. */
  readonly takesWords?: true;
  /** Reads all its texts, in order. `source` is the flag or the variable that they come from: a reason starts with it. */
  read(texts: readonly string[], source: string): Parsed<T>;
}

export type Flags = Readonly<Record<string, Flag<unknown>>>;
export type FlagValues<F extends Flags> = { readonly [N in keyof F]: F[N] extends Flag<infer T> ? T : never };

/** The name as typed: `sync-timeout` for `syncTimeout`. */
export const flagName = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export const variableOf = (flag: string): string => `WORKSPACE_SERVICE_${flag.toUpperCase().replaceAll('-', '_')}`;

type Parse<T> = (text: string) => Parsed<T>;

interface Options {
  /** Errors do not quote the value. */
  readonly secret?: boolean;
}

export const required = <T>(placeholder: string, description: string, parse: Parse<T>, options?: Options): Flag<T> => ({
  placeholder,
  description,
  otherwise: 'required',
  read: readOne(parse, (source) => missing(source, description), options),
});

export const optional = <T>(
  placeholder: string,
  description: string,
  otherwise: string,
  parse: Parse<T>,
  options?: Options,
): Flag<T | undefined> => ({
  placeholder,
  description,
  otherwise,
  read: readOne(parse, () => accepted(undefined), options),
});

export const requiredField = <T>({ placeholder, hint, parse }: Field<T>, options?: Options): Flag<T> =>
  required(placeholder, hint, parse, options);

export const optionalField = <T>({ placeholder, hint, otherwise, parse }: Field<T>, options?: Options) =>
  optional(placeholder, hint, otherwise, parse, options);

/** The default is a text, parsed like a value that a user types. */
export const withDefault = <T>(placeholder: string, description: string, text: string, parse: Parse<T>): Flag<T> => ({
  placeholder,
  description,
  otherwise: `default ${text}`,
  read: readOne(parse, () => parse(text)),
});

export const toggle = (description: string): Flag<boolean> => ({
  placeholder: '',
  description,
  otherwise: 'default false',
  read: readOne(parseSwitch, () => accepted(false)),
});

/** Repeatable flag. Commas do not split a value. */
export const repeated = <T>(
  placeholder: string,
  description: string,
  otherwise: string,
  parse: Parse<T>,
  split: (text: string) => readonly string[] = (text) => [text],
): Flag<readonly T[]> => ({
  placeholder,
  description,
  otherwise,
  read(texts, source) {
    if (texts.length === 0 && otherwise === 'required') return missing(source, description);
    const values: T[] = [];
    for (const text of texts.flatMap(split)) {
      const parsed = parse(text);
      if (!parsed.ok) return wrongValue(source, text, parsed.reason);
      values.push(parsed.value);
    }
    return accepted(values);
  },
});

/** Comma-separated, repeatable flag. */
export const list = <T>(
  placeholder: string,
  description: string,
  otherwise: string,
  parse: Parse<T>,
): Flag<readonly T[]> =>
  repeated(placeholder, description, otherwise, parse, (text) => text.split(',').map((entry) => entry.trim()));

export const rest = <T>(
  placeholder: string,
  description: string,
  otherwise: string,
  parse: Parse<T>,
): Flag<readonly T[]> => ({
  ...repeated(placeholder, description, otherwise, parse),
  takesRest: true,
});

const readOne =
  <T, D>(parse: Parse<T>, absent: (source: string) => Parsed<D>, { secret = false }: Options = {}) =>
  ([text, ...more]: readonly string[], source: string): Parsed<T | D> => {
    if (text === undefined) return absent(source);
    if (more.length > 0) return refused(`${source} is set more than once, and takes one value.`);
    const parsed = parse(text);
    if (parsed.ok) return parsed;
    return secret ? refused(`${source} cannot be used. ${parsed.reason}`) : wrongValue(source, text, parsed.reason);
  };

const missing = (source: string, description: string) => refused(`${source} is missing: ${description}.`);

const wrongValue = (source: string, text: string, reason: string) => refused(`${source} is ${quoted(text)}. ${reason}`);

function parseSwitch(text: string): Parsed<boolean> {
  if (text === 'true' || text === '1') return accepted(true);
  if (text === 'false' || text === '0') return accepted(false);
  return refused('It must be true, false, 1 or 0.');
}
