import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { Field } from '../contract/field.ts';
import { quoted } from './output/print.ts';

/** A value, or a sentence for each problem. */
export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

export interface Flag<T> {
  /** Represents the value in the help. Empty for a switch. */
  readonly placeholder: string;
  readonly what: string;
  /** Default in the help: `required`, or a value. */
  readonly otherwise: string;
  /** This argument also takes all arguments after it. */
  readonly takesRest?: true;
  /** Reads all its texts, in order. `source` is the flag or the variable that they come from. */
  read(texts: readonly string[], source: string): Reading<T>;
}

export type Flags = Readonly<Record<string, Flag<unknown>>>;
export type FlagValues<F extends Flags> = { readonly [N in keyof F]: F[N] extends Flag<infer T> ? T : never };

/** The name as typed: `sync-timeout` for `syncTimeout`. */
export const flagName = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export const variableOf = (flag: string): string => `WORKSPACE_SERVICE_${flag.toUpperCase().replaceAll('-', '_')}`;

type Parse<T> = (text: string) => Parsed<T>;

export const optional = <T>(
  placeholder: string,
  what: string,
  otherwise: string,
  parse: Parse<T>,
  { secret = false } = {},
) => ({
  ...required(placeholder, what, parse),
  otherwise,
  read: readOne(parse, () => value(undefined), secret ? wrongSecret : wrongValue),
});

export const optionalField = <T>({ placeholder, hint, otherwise, parse }: Field<T>, options = { secret: false }) =>
  optional(placeholder, hint, otherwise, parse, options);

export const requiredField = <T>({ placeholder, hint, parse }: Field<T>, options = { secret: false }) =>
  required(placeholder, hint, parse, options);

/** The default is a text, parsed like a value that a user types. */
export function withDefault<T>(placeholder: string, what: string, usual: string, parse: Parse<T>): Flag<T> {
  const { read } = required(placeholder, what, parse);
  const readOrUsual: typeof read = (texts, source) => read(texts.length === 0 ? [usual] : texts, source);
  return { placeholder, what, otherwise: `default ${usual}`, read: readOrUsual };
}

/** All remaining arguments. */
export const rest = <T>(
  placeholder: string,
  what: string,
  parse: Parse<T>,
  { mayBeNone = false } = {},
): Flag<readonly T[]> => ({
  placeholder,
  what,
  otherwise: mayBeNone ? 'default none' : 'required',
  takesRest: true,
  read: (texts, source) => (texts.length === 0 && !mayBeNone ? missing(what, source) : readAll(parse, texts, source)),
});

/** Repeatable flag. Commas do not split a value. */
export const repeated = <T>(
  placeholder: string,
  what: string,
  otherwise: string,
  parse: Parse<T>,
): Flag<readonly T[]> => ({ placeholder, what, otherwise, read: (texts, source) => readAll(parse, texts, source) });

export function requiredList<T>(placeholder: string, what: string, parse: Parse<T>): Flag<readonly T[]> {
  const flag = list(placeholder, what, 'required', parse);
  return { ...flag, read: (texts, source) => (texts.length === 0 ? missing(what, source) : flag.read(texts, source)) };
}

export const toggle = (what: string): Flag<boolean> => ({
  placeholder: '',
  what,
  otherwise: 'default false',
  read: readOne(parseSwitch, () => value(false)),
});

export function required<T>(
  placeholder: string,
  what: string,
  parse: Parse<T>,
  /** With `secret`, errors do not quote the value. */
  { secret = false } = {},
): Flag<T> {
  const read = readOne(parse, (source) => missing(what, source), secret ? wrongSecret : wrongValue);
  return { placeholder, what, otherwise: 'required', read };
}

/** Comma-separated, repeatable flag. */
export const list = <T>(placeholder: string, what: string, otherwise: string, parse: Parse<T>): Flag<readonly T[]> => ({
  placeholder,
  what,
  otherwise,
  read: (texts, source) =>
    readAll(
      parse,
      texts.flatMap((entries) => entries.split(',')).map((entry) => entry.trim()),
      source,
    ),
});

/** Error for a value that may contain a secret, so it does not quote the value. */
const wrongSecret = (source: string, _text: string, reason: string): string => `${source} cannot be used. ${reason}`;

const missing = (what: string, source: string): Reading<never> => problem(`${source} is missing: ${what}.`);

/** Reader of a flag with one value. `absent` is the result without one. */
const readOne =
  <T, D>(parse: Parse<T>, absent: (source: string) => Reading<D>, whyNot = wrongValue): Flag<T | D>['read'] =>
  ([text, ...more], source) => {
    if (text === undefined) return absent(source);
    if (more.length > 0) return problem(`${source} is set more than once, and takes one value.`);
    const parsed = parse(text);
    return parsed.ok ? parsed : problem(whyNot(source, text, parsed.reason));
  };

const problem = (sentence: string): Reading<never> => ({ ok: false, problems: [sentence] });

function readAll<T>(parse: Parse<T>, texts: readonly string[], source: string): Reading<readonly T[]> {
  const values: T[] = [];
  const problems: string[] = [];
  for (const text of texts) {
    const parsed = parse(text);
    if (parsed.ok) values.push(parsed.value);
    else problems.push(wrongValue(source, text, parsed.reason));
  }
  return problems.length === 0 ? value(values) : { ok: false, problems };
}

const wrongValue = (source: string, text: string, reason: string): string => `${source} is ${quoted(text)}. ${reason}`;

const value = <T>(read: T): Reading<T> => ({ ok: true, value: read });

function parseSwitch(text: string): Parsed<boolean> {
  if (text === 'true' || text === '1') return accepted(true);
  if (text === 'false' || text === '0') return accepted(false);
  return refused('It must be true, false, 1 or 0.');
}
