import { accepted, type Parse, type Parsed, refused } from '../interface/parsed.ts';
import { quoted } from './print.ts';

interface Flag<T> {
  /** Stands for the value in the help. Empty for a switch. */
  readonly placeholder: string;
  readonly description: string;
  /** Shown in the help: `required`, or the default. */
  readonly otherwise: string;
  /** This argument takes all further arguments, too. */
  readonly takesRest?: true;
  /** No variable can set this flag, so that each use is deliberate. */
  readonly typedOnly?: true;
  /** Reads all texts of the flag, in order. `source` is their flag or variable, and starts each reason. */
  read(texts: readonly string[], source: string): Parsed<T>;
}

export type Flags = Readonly<Record<string, Flag<unknown>>>;
export type FlagValues<F extends Flags> = { readonly [N in keyof F]: F[N] extends Flag<infer T> ? T : never };

/** The name as users type it: `sync-timeout` for `syncTimeout`. */
export const flagName = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The variable for a flag: `WORKSPACE_SERVICE_SYNC_TIMEOUT` for `syncTimeout`. */
export const variableOf = (key: string): string =>
  `WORKSPACE_SERVICE_${flagName(key).toUpperCase().replaceAll('-', '_')}`;

export interface FlagOptions {
  /** Errors do not quote the value. */
  readonly secret?: boolean;
}

export const required = <T>(
  placeholder: string,
  description: string,
  parse: Parse<T>,
  options?: FlagOptions,
): Flag<T> => ({
  placeholder,
  description,
  otherwise: 'required',
  read: readOne(parse, (source) => missing(source, description), options),
});

export const optional = <T>(
  placeholder: string,
  description: string,
  parse: Parse<T>,
  otherwise = 'default none',
  options?: FlagOptions,
): Flag<T | undefined> => ({
  placeholder,
  description,
  otherwise,
  read: readOne(parse, () => accepted(undefined), options),
});

/** The default is a text, parsed like a value that a user types. */
export const withDefault = <T>(placeholder: string, description: string, parse: Parse<T>, text: string): Flag<T> => ({
  placeholder,
  description,
  otherwise: `default ${text}`,
  read: readOne(parse, () => parse(text)),
});

export const toggle = (description: string): Flag<boolean> => withDefault('', description, parseSwitch, 'false');

/** A switch for an action that cannot be undone. */
export const deliberateToggle = (description: string): Flag<boolean> => ({ ...toggle(description), typedOnly: true });

/** Repeatable flag. Commas do not separate values. */
export const repeated = <T>(
  placeholder: string,
  description: string,
  parse: Parse<T>,
  otherwise = 'default none',
): Flag<readonly T[]> => ({
  placeholder,
  description,
  otherwise,
  read(texts, source) {
    if (texts.length === 0 && otherwise === 'required') return missing(source, description);
    const values: T[] = [];
    for (const text of texts) {
      const parsed = readText(text, source, parse);
      if (!parsed.ok) return parsed;
      values.push(parsed.value);
    }
    return accepted(values);
  },
});

/** Comma-separated, repeatable flag. Equal values count once. */
export function list<T>(...described: Parameters<typeof repeated<T>>): Flag<readonly T[]> {
  const flag = repeated(...described);
  const split = (text: string): readonly string[] => text.split(',').map((entry) => entry.trim());
  return { ...flag, read: (texts, source) => flag.read([...new Set(texts.flatMap(split))], source) };
}

export const rest = <T>(...described: Parameters<typeof repeated<T>>): Flag<readonly T[]> => ({
  ...repeated(...described),
  takesRest: true,
});

/** `absent` returns the result if the flag is not set. */
const readOne =
  <T, D>(parse: Parse<T>, absent: (source: string) => Parsed<D>, options?: FlagOptions): Flag<T | D>['read'] =>
  ([text, ...more], source) => {
    if (text === undefined) return absent(source);
    if (more.length > 0) return refused(`${source} is set more than once, but takes only one value.`);
    return readText(text, source, parse, options);
  };

/** `source` is the flag or variable that the text comes from. */
export function readText<T>(text: string, source: string, parse: Parse<T>, { secret = false }: FlagOptions = {}) {
  const parsed = parse(text);
  if (parsed.ok) return parsed;
  return refused(`${source} ${secret ? 'cannot be used' : `is ${quoted(text)}`}. ${parsed.reason}`);
}

const missing = (source: string, description: string) => refused(`${source} is missing: ${description}.`);

function parseSwitch(text: string): Parsed<boolean> {
  if (text === 'true' || text === '1') return accepted(true);
  if (text === 'false' || text === '0') return accepted(false);
  return refused('It must be true, false, 1 or 0.');
}
