import type { Parsed } from '../../interface/parsed.ts';
import type { InputName, RawInputs } from './table.ts';

/** Values that are never repeated, however wrong they are. */
const secret: ReadonlySet<InputName> = new Set(['token', 'hook-secret', 'hook-options', 'github-token', 'locks']);

const longestShown = 200;

function quote(name: InputName, text: string): string {
  if (text === '') return `Input \`${name}\` is missing.`;
  if (secret.has(name)) return `Input \`${name}\` is not valid.`;
  const shown = text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
  return `Input \`${name}\` is ${JSON.stringify(shown)}.`;
}

/** Undefined stands for a value that is wrong; by then it is among the problems. */
export type Read<T> = T | undefined;

/** Reads inputs one by one and keeps what is wrong with them, so that a step is told of everything at once. */
export interface Reader {
  readonly raw: RawInputs;
  readonly problems: readonly string[];
  complain(name: InputName, why: string): void;
  read<T>(name: InputName, parse: (text: string) => Parsed<T>): Read<T>;
}

export function createReader(raw: RawInputs): Reader {
  const problems: string[] = [];
  const complain = (name: InputName, why: string): void => {
    problems.push(`${quote(name, raw[name])} ${why}`);
  };
  return {
    raw,
    problems,
    complain,
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
