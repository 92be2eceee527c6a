import type { Parsed } from '../../interface/parsed.ts';
import type { InputName, RawInputs } from './table.ts';

/** Values that are never repeated, however wrong they are. */
const secret: ReadonlySet<InputName> = new Set(['token', 'hook-secret', 'hook-options', 'github-token', 'locks']);

const longestShown = 200;

/** Of an address what stands before an @, and from the query on, is often a credential. */
const withoutCredentials = (text: string): string =>
  text.replace(/^.*@/s, '***@').replace(/([?#]).+$/s, (_, mark: string) => `${mark}***`);

const addresses: ReadonlySet<InputName> = new Set(['base-url', 'hook-url']);

const quoted = (text: string): string =>
  JSON.stringify(text.length > longestShown ? `${text.slice(0, longestShown)}…` : text);

function theInput(name: InputName, text: string): string {
  if (text === '') return `Input \`${name}\` is missing.`;
  if (secret.has(name)) return `Input \`${name}\` is not valid.`;
  return `Input \`${name}\` is ${quoted(addresses.has(name) ? withoutCredentials(text) : text)}.`;
}

/** What is wrong with one line of an input that has several. */
export const lineProblem = (name: InputName, line: string, why: string): string =>
  `Input \`${name}\` has the line ${quoted(line)}. ${why}`;

/** Undefined stands for a value that is wrong; by then it is among the problems. */
export type Read<T> = T | undefined;

/** Reads inputs one by one and keeps what is wrong with them, so that a step is told of everything at once. */
export interface Reader {
  readonly raw: RawInputs;
  readonly problems: readonly string[];
  complain(name: InputName, why: string): void;
  complainOfLine(name: InputName, line: string, why: string): void;
  read<T>(name: InputName, parse: (text: string) => Parsed<T>): Read<T>;
}

export function createReader(raw: RawInputs): Reader {
  const problems: string[] = [];
  const complain = (name: InputName, why: string): void => {
    problems.push(`${theInput(name, raw[name])} ${why}`);
  };
  return {
    raw,
    problems,
    complain,
    complainOfLine: (name, line, why) => void problems.push(lineProblem(name, line, why)),
    read(name, parse) {
      const parsed = parse(raw[name]);
      if (parsed.ok) return parsed.value;
      complain(name, parsed.why);
      return undefined;
    },
  };
}

/** The fields together, once none of them is wrong. */
export function complete<Fields extends object>(
  fields: { readonly [Key in keyof Fields]: Read<Fields[Key]> },
): Read<Fields> {
  // What is left has no undefined: that is what every field is looked at for.
  return Object.values(fields).includes(undefined) ? undefined : (fields as Fields);
}
