import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { pictures } from '../../docs/screenshots/pictures.ts';
import { expectedPages } from '../service/dashboard/expected-pages.ts';
import { dashboard, docs, readme } from './pages.ts';

test('every page in the table exists, and needs the scope that the table says', () => {
  const rows = [...dashboard.text.matchAll(/^\| `(\/[^`]*)` \| (?:`([a-z:]+)`|any token) \|/gm)];
  const named = rows.map(([, path, scope = 'any-token']) => ({ method: 'GET', path, need: scope }));
  expect(named.length).toBeGreaterThan(5);
  expect(expectedPages).toEqual(expect.arrayContaining(named));
});

test('every section of the dashboard is in the table', () => {
  const sections = expectedPages.filter(
    ({ method, path, need }) => method === 'GET' && need !== 'anyone' && /^\/(workspaces\/:id\/)?\w*$/.test(path),
  );
  const missing = sections.filter(({ path }) => !dashboard.text.includes(`| \`${path}\` |`));
  expect(missing.map(({ path }) => path).filter((path) => !path.endsWith('/summary'))).toEqual([]);
});

test('every picture exists in both colour schemes, and each file belongs to one', async () => {
  const files = await readdir(new URL('images/', docs));
  const taken = pictures.flatMap(({ name }) => [`${name}-dark.png`, `${name}-light.png`]);
  expect(files.toSorted()).toEqual(taken.toSorted());
  const shown = [...`${dashboard.text}${readme.text}`.matchAll(/images\/([\w-]+\.png)/g)].map(([, file = '']) => file);
  expect(files).toEqual(expect.arrayContaining(shown));
});
