import { parseArgs } from 'node:util';
import { quoted } from '../output/safe-text.ts';
import { nearest } from './nearest.ts';
import type { Flags, Shape } from './shape.ts';

type Part =
  | { readonly kind: 'flag'; readonly name: string; readonly written: string; readonly value: string | undefined }
  | { readonly kind: 'argument'; readonly text: string };

/** Node's own reading of the arguments, except that a flag does not take the next flag for its value. */
function partsOf(args: readonly string[], flags: Flags): Part[] {
  const types = Object.entries(flags).map(
    ([name, { takes }]) => [name, { type: takes === 'nothing' ? 'boolean' : 'string' }] as const,
  );
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: { ...Object.fromEntries(types), help: { type: 'boolean', short: 'h' } },
  });
  const parts: Part[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') parts.push({ kind: 'argument', text: token.value });
    if (token.kind !== 'option') continue;
    const { name, rawName: written, value, inlineValue } = token;
    const tookFlag = value !== undefined && !inlineValue && value.length > 1 && value.startsWith('-');
    parts.push({ kind: 'flag', name, written, value: tookFlag ? undefined : value });
    if (tookFlag) return [...parts, ...partsOf(args.slice(token.index + 1), flags)];
  }
  return parts;
}

/** What was given for each flag and for the arguments, not read yet. */
export interface Given {
  readonly help: boolean;
  readonly flags: ReadonlyMap<string, readonly string[]>;
  readonly arguments: readonly string[];
  readonly problems: readonly string[];
}

function unknownFlag(written: string, name: string, shape: Shape): string {
  const names = Object.keys(shape.flags);
  const meant = nearest(name, names);
  const all = `Its flags are ${names.map((known) => `--${known}`).join(', ')}.`;
  const hint = meant === undefined ? all : `Did you mean --${meant}?`;
  return `${quoted(written)} is not a flag of "${shape.name}". ${hint}`;
}

export function takeApart(args: readonly string[], shape: Shape): Given {
  const flags = new Map<string, string[]>();
  const texts: string[] = [];
  const problems: string[] = [];
  let help = args.length === 1 && args[0] === 'help';
  let afterUnknown = false;
  for (const part of partsOf(args, shape.flags)) {
    if (part.kind === 'argument') {
      // What stands behind a flag that nobody knows is probably its value.
      if (!afterUnknown) texts.push(part.text);
      afterUnknown = false;
      continue;
    }
    const { name, written, value } = part;
    const flag = Object.hasOwn(shape.flags, name) ? shape.flags[name] : undefined;
    afterUnknown = false;
    if (name === 'help') {
      help = true;
    } else if (flag === undefined) {
      afterUnknown = value === undefined;
      problems.push(unknownFlag(written, name, shape));
    } else if (value === undefined && flag.takes !== 'nothing') {
      problems.push(`--${name} needs a value: ${flag.what}. Write it as --${name}=${flag.placeholder}.`);
      flags.set(name, flags.get(name) ?? []);
    } else {
      flags.set(name, [...(flags.get(name) ?? []), value ?? 'true']);
    }
  }
  return { help, flags, arguments: texts, problems };
}
