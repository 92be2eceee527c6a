import { readFile, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { withText } from './markdown.ts';

/** Writes the lists of inputs and outputs in docs/action.md from action.yml. */

interface Entry {
  readonly description: string;
  readonly default?: string;
  readonly required?: boolean;
}

interface ActionFile {
  readonly inputs: Readonly<Record<string, Entry>>;
  readonly outputs: Readonly<Record<string, Entry>>;
}

const code = (names: string): string => names.replaceAll(/[a-z-]+/g, '`$&`');

/**
 * The operations that a description names, and its remaining text. A description begins with the operations, or with a
 * meaning for each of them; a test checks this in action.yml.
 */
function split({ description }: Entry): { readonly who: string; readonly what: string } {
  const [, all, but, some, what] =
    /^(?:(All operations)(?: but ([a-z-]+))?|([a-z-]+(?:, [a-z-]+)*))\. (.*)$/s.exec(description) ?? [];
  if (some !== undefined && what !== undefined) return { who: code(some), what };
  if (all !== undefined && what !== undefined) return { who: but === undefined ? 'all' : `all but ${code(but)}`, what };
  const [, ofEach] = /^([a-z-]+(?:, [a-z-]+)*): /.exec(description) ?? [];
  if (ofEach === undefined) return { who: 'all', what: description };
  const meanings = description.matchAll(/(?:^|\. )([a-z-]+(?:, [a-z-]+)*): /g);
  return { who: [...meanings].map(([, names = '']) => code(names)).join(', '), what: description };
}

const listed = (name: string, entry: Entry): string => {
  const { who, what } = split(entry);
  const { default: text, required } = entry;
  const notes = [who, ...(required === true ? ['required'] : []), ...(text === undefined ? [] : [`\`${text}\``])];
  return `- **\`${name}\`** (${notes.join('; ')}): ${what.trim().replaceAll(/\s+/g, ' ')}`;
};

const listOf = (entries: Readonly<Record<string, Entry>>): string =>
  Object.entries(entries)
    .map(([name, entry]) => listed(name, entry))
    .join('\n');

/** Replaces each list between its two comments. */
export function withLists(markdown: string, actionYml: string): string {
  // A test checks this form of action.yml.
  const action = parse(actionYml) as ActionFile;
  return withText(withText(markdown, 'inputs', listOf(action.inputs)), 'outputs', listOf(action.outputs));
}

if (import.meta.main) {
  const root = new URL('../', import.meta.url);
  const page = new URL('docs/action.md', root);
  const markdown = await readFile(page, 'utf8');
  await writeFile(page, withLists(markdown, await readFile(new URL('action.yml', root), 'utf8')));
}
