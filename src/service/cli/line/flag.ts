import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';

export type Wrong =
  /** What would be right instead of the value, or the part of it. */
  | { readonly value: string; readonly why: string }
  /** Completes a sentence that begins with the name of the flag. */
  | { readonly that: string };

export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly wrong: readonly Wrong[] };

export interface Flag<T> {
  readonly takes: 'nothing' | 'one value' | 'a list';
  /** Stands for the value in the help. */
  readonly placeholder: string;
  readonly what: string;
  /** The value when nothing is given, as the help tells it. */
  readonly otherwise: string;
  /** The value may hold a secret and is never repeated. */
  readonly secret: boolean;
  /** All that was given for it, in its order; empty when nothing was. */
  read(given: readonly string[]): Reading<T>;
}

type Parse<T> = (text: string) => Parsed<T>;

interface FlagText {
  readonly placeholder: string;
  readonly what: string;
  readonly secret?: boolean;
}

const wrong = (how: Wrong): Reading<never> => ({ ok: false, wrong: [how] });

function read<T>(parse: Parse<T>, given: readonly string[], otherwise: () => Reading<T>): Reading<T> {
  const [text, ...more] = given;
  if (text === undefined) return otherwise();
  if (more.length > 0) return wrong({ that: 'is given more than once, and takes one value.' });
  const parsed = parse(text);
  return parsed.ok ? parsed : wrong({ value: text, why: parsed.why });
}

function readList<T>(parse: Parse<T>, given: readonly string[]): Reading<readonly T[]> {
  const values: T[] = [];
  const refusals: Wrong[] = [];
  for (const text of given.flatMap((list) => list.split(',')).map((entry) => entry.trim())) {
    const parsed = parse(text);
    if (parsed.ok) values.push(parsed.value);
    else refusals.push({ value: text, why: parsed.why });
  }
  return refusals.length === 0 ? { ok: true, value: values } : { ok: false, wrong: refusals };
}

const missing = ({ what }: FlagText): Reading<never> => wrong({ that: `is missing: ${what}.` });

const flag = <T>(
  { placeholder, what, secret = false }: FlagText,
  rest: Pick<Flag<T>, 'takes' | 'otherwise' | 'read'>,
): Flag<T> => ({ placeholder, what, secret, ...rest });

export const required = <T>(text: FlagText, parse: Parse<T>): Flag<T> =>
  flag(text, {
    takes: 'one value',
    otherwise: 'required',
    read: (given) => read(parse, given, () => missing(text)),
  });

/** Null when it is not given. */
export const optional = <T>(text: FlagText, otherwise: string, parse: Parse<T>): Flag<T | null> =>
  flag<T | null>(text, {
    takes: 'one value',
    otherwise,
    read: (given) => read<T | null>(parse, given, () => ({ ok: true, value: null })),
  });

/** Its default is written as a person would write the value. */
export const withDefault = <T>(text: FlagText, value: string, parse: Parse<T>): Flag<T> =>
  flag(text, {
    takes: 'one value',
    otherwise: `default ${value}`,
    read: (given) => read(parse, given.length === 0 ? [value] : given, () => missing(text)),
  });

/** Separated by commas, and may be given several times. */
export const list = <T>(text: FlagText, otherwise: string, parse: Parse<T>): Flag<readonly T[]> =>
  flag(text, { takes: 'a list', otherwise, read: (given) => readList(parse, given) });

export const requiredList = <T>(text: FlagText, parse: Parse<T>): Flag<readonly T[]> =>
  flag(text, {
    takes: 'a list',
    otherwise: 'required',
    read: (given) => (given.length === 0 ? missing(text) : readList(parse, given)),
  });

function parseSwitch(text: string): Parsed<boolean> {
  if (text === 'true' || text === '1') return accepted(true);
  if (text === 'false' || text === '0') return accepted(false);
  return refused('It has to be true, false, 1 or 0.');
}

export const toggle = (what: string): Flag<boolean> =>
  flag(
    { placeholder: '', what },
    {
      takes: 'nothing',
      otherwise: 'default false',
      read: (given) => read(parseSwitch, given, () => ({ ok: true, value: false })),
    },
  );
