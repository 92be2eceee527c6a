import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { quoted } from './output/print.ts';

/** A value, or a sentence about everything that is wrong with it. */
export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

export interface Flag<T> {
  /** Stands for the value in the help. Empty: the flag is a switch. */
  readonly placeholder: string;
  readonly what: string;
  /** What the help says of its absence: `required`, or the default. */
  readonly otherwise: string;
  /** Reads all texts for it, in their order. `source` is the flag or the variable that they come from. */
  read(texts: readonly string[], source: string): Reading<T>;
}

export type Flags = Readonly<Record<string, Flag<unknown>>>;
export type FlagValues<F extends Flags> = { readonly [N in keyof F]: F[N] extends Flag<infer T> ? T : never };

export const variableOf = (flag: string): string => `WORKSPACE_SERVICE_${flag.toUpperCase().replaceAll('-', '_')}`;

type Parse<T> = (text: string) => Parsed<T>;

interface FlagText {
  readonly placeholder: string;
  readonly what: string;
  /** The value may hold a secret and is never repeated. */
  readonly secret?: boolean;
}

const value = <T>(read: T): Reading<T> => ({ ok: true, value: read });

const problem = (sentence: string): Reading<never> => ({ ok: false, problems: [sentence] });

const wrongValue = (source: string, text: string, why: string, secret = false): string =>
  `${source} ${secret ? 'cannot be used' : `is ${quoted(text)}`}. ${why}`;

const missing = ({ what }: FlagText, source: string): Reading<never> => problem(`${source} is missing: ${what}.`);

function oneValue<T, D>(
  text: FlagText,
  otherwise: string,
  parse: Parse<T>,
  absent: (source: string) => Reading<D>,
): Flag<T | D> {
  const { placeholder, what, secret } = text;
  return {
    placeholder,
    what,
    otherwise,
    read([first, ...more], source) {
      if (first === undefined) return absent(source);
      if (more.length > 0) return problem(`${source} is set more than once, and takes one value.`);
      const parsed = parse(first);
      return parsed.ok ? parsed : problem(wrongValue(source, first, parsed.why, secret));
    },
  };
}

export const required = <T>(text: FlagText, parse: Parse<T>): Flag<T> =>
  oneValue(text, 'required', parse, (source) => missing(text, source));

/** Null when it is absent. */
export const optional = <T>(text: FlagText, otherwise: string, parse: Parse<T>): Flag<T | null> =>
  oneValue<T, null>(text, otherwise, parse, () => value(null));

/** Its default is written as a person would write the value. */
export const withDefault = <T>(text: FlagText, usual: string, parse: Parse<T>): Flag<T> =>
  oneValue(text, `default ${usual}`, parse, (source) => {
    const parsed = parse(usual);
    return parsed.ok ? parsed : problem(wrongValue(source, usual, parsed.why));
  });

/** Separated by commas, and may be given several times. */
export const list = <T>({ placeholder, what }: FlagText, otherwise: string, parse: Parse<T>): Flag<readonly T[]> => ({
  placeholder,
  what,
  otherwise,
  read(texts, source) {
    const values: T[] = [];
    const problems: string[] = [];
    for (const text of texts.flatMap((entries) => entries.split(',')).map((entry) => entry.trim())) {
      const parsed = parse(text);
      if (parsed.ok) values.push(parsed.value);
      else problems.push(wrongValue(source, text, parsed.why));
    }
    return problems.length === 0 ? value(values) : { ok: false, problems };
  },
});

export function requiredList<T>(text: FlagText, parse: Parse<T>): Flag<readonly T[]> {
  const flag = list(text, 'required', parse);
  return {
    ...flag,
    read: (texts, source) => (texts.length === 0 ? missing(text, source) : flag.read(texts, source)),
  };
}

function parseSwitch(text: string): Parsed<boolean> {
  if (text === 'true' || text === '1') return accepted(true);
  if (text === 'false' || text === '0') return accepted(false);
  return refused('It must be true, false, 1 or 0.');
}

export const toggle = (what: string): Flag<boolean> =>
  oneValue({ placeholder: '', what }, 'default false', parseSwitch, () => value(false));
