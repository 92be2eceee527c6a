import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { codeIn, readPage } from './pages.ts';

const src = fileURLToPath(new URL('../../src/', import.meta.url));
const { sections } = await readPage('docs/troubleshooting.md');
const entries = sections.filter(({ title }) => title.startsWith('`'));

const files = (await readdir(src, { recursive: true })).filter((name) => name.endsWith('.ts'));
const sources = await Promise.all(files.map((name) => readFile(join(src, name), 'utf8')));

test('the page has at least 10 messages', () => expect(entries.length).toBeGreaterThanOrEqual(10));

test.each(entries)('$title is a message of the source code', ({ title, text }) => {
  const [message = ''] = codeIn(title);
  const fixed = message
    .split('…')
    .map((part) => part.trim())
    .filter((part) => /\w{2}/.test(part));
  expect(fixed).not.toEqual([]);
  // All parts are in one file: a message is never assembled from several files.
  expect(sources.some((source) => fixed.every((part) => source.includes(part)))).toBe(true);
  expect(text.trim()).not.toBe('');
});
