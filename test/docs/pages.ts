import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export const docs = new URL('../../docs/', import.meta.url);

export interface Page {
  readonly name: string;
  readonly text: string;
}

async function page(name: string): Promise<Page> {
  return { name, text: await readFile(new URL(name, docs), 'utf8') };
}

export const selfHosting = await page('self-hosting.md');
export const security = await page('security.md');

export interface Snippet {
  readonly language: string;
  readonly text: string;
}

export const snippetsIn = ({ text }: Page): readonly Snippet[] =>
  [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', snippet = '']) => ({
    language,
    text: snippet,
  }));

/** The only snippet with these words. */
export function snippetWith(from: Page, words: string): string {
  const [found, ...more] = snippetsIn(from).filter(({ text }) => text.includes(words));
  if (found === undefined || more.length > 0) {
    throw new Error(`${from.name} has ${more.length === 0 ? 'no' : 'more than one'} snippet with "${words}".`);
  }
  return found.text;
}

/** The texts that are written as code, between the snippets. */
export const codeIn = ({ text }: Page): readonly string[] =>
  [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

/** A shipped file, by its path below `docs`. */
export const shipped = (path: string): Promise<string> => readFile(new URL(path, docs), 'utf8');

export const shippedPath = (path: string): string => fileURLToPath(new URL(path, docs));
