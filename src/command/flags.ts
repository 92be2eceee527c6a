import { accepted, type Parsed, refused } from '../interface/parsed.ts';
import { quoted } from './print.ts';

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
  /** Another name that people type for it. */
  readonly alias?: string;
  /** No variable sets this flag: each use is meant. */
  readonly typedOnly?: true;
  /** Reads all its texts, in order. `source` is the flag or the variable that they come from: a reason starts with it. */
  read(texts: readonly string[], source: string): Parsed<T>;
}

export type Flags = Readonly<Record<string, Flag<unknown>>>;
export type FlagValues<F extends Flags> = { readonly [N in keyof F]: F[N] extends Flag<infer T> ? T : never };

/** The name as typed: `sync-timeout` for `syncTimeout`. */
export const flagName = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The variable that stands for a flag: `WORKSPACE_SERVICE_SYNC_TIMEOUT` for `syncTimeout`. */
export const variableOf = (key: string): string =>
  `WORKSPACE_SERVICE_${flagName(key).toUpperCase().replaceAll('-', '_')}`;

type Parse<T> = (text: string) => Parsed<T>;
/** `otherwise` is the default in the help. */
type Described<T> = readonly [
  placeholder: string,
  description: string,
  parse: Parse<T>,
  otherwise?: string | undefined,
];

export interface FlagOptions {
  /** Errors do not quote the value. */
  readonly secret?: boolean;
}

export const required = <T>(
  placeholder: string,
  description: string,
  parse: Parse<T>,
  options?: FlagOptions,
): Flag<T> => single([placeholder, description, parse, 'required'], (source) => missing(source, description), options);

export const optional = <T>(
  placeholder: string,
  description: string,
  parse: Parse<T>,
  otherwise?: string,
  options?: FlagOptions,
): Flag<T | undefined> => single([placeholder, description, parse, otherwise], () => accepted(undefined), options);

/** The default is a text, parsed like a value that a user types. */
export const withDefault = <T>(placeholder: string, description: string, parse: Parse<T>, text: string): Flag<T> =>
  single([placeholder, description, parse, `default ${text}`], () => parse(text));

export const toggle = (description: string): Flag<boolean> =>
  single(['', description, parseSwitch, 'default false'], () => accepted(false));

/** A switch for what cannot be undone. */
export const deliberateToggle = (description: string): Flag<boolean> => ({ ...toggle(description), typedOnly: true });

/** Repeatable flag. Commas do not split a value. */
export const repeated = <T>(...described: Described<T>): Flag<readonly T[]> => many(described, (text) => [text]);

/** Comma-separated, repeatable flag. */
export const list = <T>(...described: Described<T>): Flag<readonly T[]> =>
  many(described, (text) => text.split(',').map((entry) => entry.trim()));

export const rest = <T>(...described: Described<T>): Flag<readonly T[]> => ({
  ...repeated(...described),
  takesRest: true,
});

const single = <T, D>(
  described: Described<T>,
  absent: (source: string) => Parsed<D>,
  options?: FlagOptions,
): Flag<T | D> => ({
  ...many(described, (text) => [text]),
  read([text, ...more], source) {
    if (text === undefined) return absent(source);
    if (more.length > 0) return refused(`${source} is set more than once, and takes one value.`);
    return readValue(text, source, described[2], options);
  },
});

const many = <T>(
  [placeholder, description, parse, otherwise = 'default none']: Described<T>,
  split: (text: string) => readonly string[],
): Flag<readonly T[]> => ({
  placeholder,
  description,
  otherwise,
  read(texts, source) {
    if (texts.length === 0 && otherwise === 'required') return missing(source, description);
    const values: T[] = [];
    for (const text of texts.flatMap(split)) {
      const parsed = readValue(text, source, parse);
      if (!parsed.ok) return parsed;
      values.push(parsed.value);
    }
    return accepted(values);
  },
});

function readValue<T>(text: string, source: string, parse: Parse<T>, { secret = false }: FlagOptions = {}): Parsed<T> {
  const parsed = parse(text);
  return parsed.ok
    ? parsed
    : refused(`${source} ${secret ? 'cannot be used' : `is ${quoted(text)}`}. ${parsed.reason}`);
}

const missing = (source: string, description: string) => refused(`${source} is missing: ${description}.`);

function parseSwitch(text: string): Parsed<boolean> {
  if (text === 'true' || text === '1') return accepted(true);
  if (text === 'false' || text === '0') return accepted(false);
  return refused('It must be true, false, 1 or 0.');
}

/** Any text that a program or a URL can contain. */
export const textOf =
  (what: string) =>
  (text: string): Parsed<string> =>
    text === '' || text.includes('\0') ? refused(`It must be ${what}.`) : accepted(text);

export const wholeNumber =
  (min: number, max: number) =>
  (text: string): Parsed<number> => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return number >= min && number <= max
      ? accepted(number)
      : refused(`It must be a whole number from ${min} to ${max}.`);
  };
