import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';

/** Prints every message of the action, the command and the service, to be read in one go: `npm run messages [FOLDER]`. */

const root = fileURLToPath(new URL('../', import.meta.url));

export interface Message {
  readonly file: string;
  readonly line: number;
  /** With `…` for values. */
  readonly text: string;
}

export async function messagesIn(folder: string): Promise<readonly Message[]> {
  const names = (await readdir(join(root, folder), { recursive: true })).filter((name) => name.endsWith('.ts'));
  const files = names.map((name) => join(folder, name)).toSorted();
  return (await Promise.all(files.map(messagesOf))).flat();
}

async function messagesOf(file: string): Promise<readonly Message[]> {
  const source = await readFile(join(root, file), 'utf8');
  return textsIn(parseAst(source, { lang: 'ts' })).flatMap(({ text, start }) => {
    const message = text.replaceAll(/\s+/g, ' ').trim();
    return isMessage(message) ? [{ file, line: source.slice(0, start).split('\n').length, text: message }] : [];
  });
}

interface Text {
  readonly text: string;
  readonly start: number;
}

/** The literals below a node, and the text between tags of HTML. Leaves out types, module names and SQL. */
function textsIn(node: unknown): readonly Text[] {
  if (Array.isArray(node)) return node.flatMap(textsIn);
  if (!isNode(node)) return [];
  const { type, start } = node;
  if (/^TS(?!(As|Satisfies|NonNull)Expression$)|^(Import|ExportAll)Declaration$/.test(type)) return [];
  if (type === 'Literal') return typeof node['value'] === 'string' ? [{ text: node['value'], start }] : [];
  if (type === 'TaggedTemplateExpression') {
    const texts = fieldOf(node['tag'], 'name') === 'html' ? withValues(node['quasi']).split(/<[^>]*>/) : [];
    return [...texts.map((text) => ({ text, start })), ...textsIn(fieldOf(node['quasi'], 'expressions'))];
  }
  const below = Object.values(node).flatMap(textsIn);
  return type === 'TemplateLiteral' ? [{ text: withValues(node), start }, ...below] : below;
}

const withValues = (template: unknown): string =>
  [fieldOf(template, 'quasis')]
    .flat()
    .map((part) => fieldOf(fieldOf(part, 'value'), 'cooked'))
    .join('…');

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof fieldOf(value, 'type') === 'string' && typeof fieldOf(value, 'start') === 'number';

const fieldOf = (value: unknown, field: string): unknown =>
  typeof value === 'object' && value !== null ? Object.entries(value).find(([name]) => name === field)?.[1] : undefined;

/** Three words, not all of them in code: headers, selectors and most SQL have no words between spaces. */
const isMessage = (text: string): boolean =>
  (text.match(/(?<=^|[\s(“"])[A-Za-z][a-z’']*(?=$|[\s.,;:)?!”"])/g) ?? []).length >= 3 &&
  !/^(select|insert into|update|delete from|create|drop|alter|pragma|coalesce|(before|after) (insert|update|delete)|integer|bigint|[\w.]+ as \w+$)\b/.test(
    text,
  );

if (import.meta.main) {
  const [folder = 'src'] = process.argv.slice(2);
  let last = '';
  for (const { file, line, text } of await messagesIn(folder)) {
    if (file !== last) process.stdout.write(`\n${file}\n`);
    last = file;
    process.stdout.write(`${String(line).padStart(5)}  ${text}\n`);
  }
}
