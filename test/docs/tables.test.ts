import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { pictures } from '../../scripts/screenshots/pictures.ts';
import { withTables } from '../../scripts/write-tables.ts';
import { inputTable, operations } from '../../src/action/inputs/table.ts';
import { problems } from '../../src/interface/problem.ts';
import { scopes } from '../../src/interface/scopes.ts';
import { openScene } from '../e2e/scene.ts';
import { expectedPages } from '../service/dashboard/expected-pages.ts';
import { ourActionFile } from '../support/runner/action-file.ts';
import {
  actionPage,
  codeIn,
  dashboard,
  decisions,
  docs,
  interfacePage,
  readme,
  readPage,
  section,
  security,
  selfHosting,
  tableRows,
} from './pages.ts';

const actionYml = await readFile(ourActionFile, 'utf8');
const action: {
  readonly inputs: Readonly<Record<string, object>>;
  readonly outputs: Readonly<Record<string, { readonly description: string }>>;
} = parse(actionYml);

describe('the tables of inputs and outputs', () => {
  test('match action.yml; otherwise, run `npm run docs`', () => {
    expect(readme.text).toBe(withTables(readme.text, actionYml));
    const told = tableRows(section(readme, 'Outputs'), 'Output').map(([name = '']) => codeIn(name)[0]);
    expect(told).toEqual(Object.keys(action.outputs));
  });

  test('name the operations that use each input', () => {
    const shown = tableRows(section(readme, 'Inputs'), 'Input').map(([name = '', who = '']) => {
      if (who === 'all') return [codeIn(name)[0], 'all'];
      const named = codeIn(who);
      return [
        codeIn(name)[0],
        who.startsWith('all but') ? operations.filter((operation) => !named.includes(operation)) : named,
      ];
    });
    const used = Object.entries(inputTable).map(([name, { usedBy }]) => [name, usedBy]);
    // The order of the operations follows the description.
    const sorted = (rows: typeof shown) =>
      rows.map(([name, who]) => [name, typeof who === 'string' ? who : who?.toSorted()]);
    expect(sorted(shown)).toEqual(sorted(used as typeof shown));
  });

  test('escape characters that would break a table', () => {
    const odd = "inputs:\n  a:\n    description: 'lock. One | two.'\noutputs: {}\n";
    const [row] = withTables(readme.text, odd)
      .split('\n')
      .filter((line) => line.startsWith('| `a`'));
    expect(row).toBe('| `a` | `lock` |  | One \\| two. |');
  });
});

describe('the table of status words', () => {
  const rows = tableRows(section(actionPage, 'Status words and exits'), 'Operation');

  test('has every operation', () => {
    expect(rows.flatMap(([who = '']) => codeIn(who)).toSorted()).toEqual(operations.toSorted());
  });

  test('has the words in action.yml for each operation', () => {
    const description = action.outputs['status']?.description ?? '';
    for (const [who = '', words = ''] of rows) {
      const [, told = ''] = new RegExp(`${codeIn(who).join(', ')}: ([^.]*)\\.`).exec(description) ?? [];
      expect(codeIn(told).length, who).toBeGreaterThan(0);
      expect(codeIn(words), who).toEqual(expect.arrayContaining([...codeIn(told)]));
      if (who !== '`sync`') expect(codeIn(words)).toHaveLength(codeIn(told).length);
    }
  });
});

test('the tables of dependencies have every package that is shipped, and only packages that exist', async () => {
  const { dependencies, devDependencies } = JSON.parse(
    await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  const { text } = section(decisions, 'Dependencies');
  const told = [...text.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names = '']) => codeIn(names));
  expect(told).toEqual(expect.arrayContaining(Object.keys(dependencies)));
  expect(Object.keys({ ...dependencies, ...devDependencies })).toEqual(expect.arrayContaining(told));
});

test('the table of scopes has every scope', () => {
  const rows = tableRows(section(security, 'Tokens'), 'Scope');
  expect(rows.flatMap(([scope = '']) => codeIn(scope))).toEqual(scopes);
});

describe('the table of the HTTP API', () => {
  const scene = openScene();
  interface Operation {
    readonly security?: readonly { readonly token?: readonly string[] }[];
  }
  const access = ({ security: [needed] = [] }: Operation): string =>
    needed === undefined ? 'none' : (needed.token?.[0] ?? 'any token');

  test('matches the OpenAPI document', async () => {
    const rows = tableRows(section(interfacePage, 'The HTTP interface'), 'Method and path');
    const told = rows.map(([what = '', scope = '']) => [codeIn(what)[0], codeIn(scope)[0] ?? scope]);
    const { body } = await scene.service.ask('GET', '/v1/openapi.json');
    // Other tests check the form of the document.
    const paths = Object.entries(body.paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>);
    const described = paths.flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, access(operation)]),
    );
    expect(told.toSorted()).toEqual(described.toSorted());
  });
});

test('the table of errors has every problem with its status', () => {
  const rows = tableRows(section(interfacePage, 'Errors'), 'Problem');
  const told = rows.map(([name = '', status = '']) => [codeIn(name)[0], Number(status)]);
  expect(told).toEqual(Object.entries(problems).map(([name, { status }]) => [name, status]));
});

test('the table of the dashboard has every section, and only pages that exist with their scopes', () => {
  const rows = [...dashboard.text.matchAll(/^\| `(\/[^`]*)` \| (?:`([a-z:]+)`|any token) \|/gm)];
  const named = rows.map(([, path, scope = 'any-token']) => ({ method: 'GET', path, need: scope }));
  expect(expectedPages).toEqual(expect.arrayContaining(named));
  const sections = expectedPages.filter(
    ({ method, path, need }) =>
      method === 'GET' && need !== 'anyone' && /^\/(workspaces\/:id\/)?(?!summary$)\w*$/.test(path),
  );
  expect(named.map(({ path }) => path)).toEqual(expect.arrayContaining(sections.map(({ path }) => path)));
});

test('every picture exists in both color schemes, and every file belongs to a picture', async () => {
  const files = (await readdir(new URL('images/', docs))).filter((file) => file.endsWith('.png'));
  const taken = pictures.flatMap(({ name }) => [`${name}-dark.png`, `${name}-light.png`]);
  expect(files.toSorted()).toEqual(taken.toSorted());
  const shown = [...`${dashboard.text}${readme.text}`.matchAll(/images\/([\w-]+\.png)/g)].map(([, file = '']) => file);
  expect(files).toEqual(expect.arrayContaining(shown));
});

test('the architecture drawing is well-formed, names every part, and follows the color scheme', async () => {
  const drawing = await readFile(new URL('images/how-it-fits-together.svg', docs), 'utf8');
  const open: string[] = [];
  for (const [, close, name = '', alone] of drawing.matchAll(/<(\/?)(\w+)(?:\s+[\w:-]+="[^"<]*")*\s*(\/?)>/g)) {
    if (close !== '') expect(open.pop()).toBe(name);
    else if (alone === '') open.push(name);
  }
  expect(open).toEqual([]);
  const words = [...drawing.matchAll(/<text[^>]*>([^<]+)<\/text>/g)].map(([, text = '']) => text).join(' ');
  for (const part of ['Runner', 'Job', 'Action', 'Post-step', 'workspace-service', 'Mirror', 'Locks', 'Database'])
    expect(words).toContain(part);
  for (const part of ['Git remote', 'LFS', 'Webhook receiver', 'People', 'git clone']) expect(words).toContain(part);
  expect(drawing).toMatch(/<title id="title">.+<desc id="description">/s);
  expect(drawing).toContain('@media (prefers-color-scheme: dark)');
  expect(drawing).not.toMatch(/(href=|url\()"?(?!#)|@import/);
  expect(section(selfHosting, 'How it fits together').text).toContain('(images/how-it-fits-together.svg)');
  expect(readme.text).toContain('(docs/images/how-it-fits-together.svg)');
});

test('the map of src/ has a sentence for each folder, and no other folders', async () => {
  const root = fileURLToPath(new URL('../', docs));
  const { text } = await readPage('CONTRIBUTING.md');
  const rows = [...text.matchAll(/^\| `(src[^`]*)` \| ([A-Z].*\.) \|$/gm)].map(([, folder]) => folder);
  const entries = await readdir(join(root, 'src'), { recursive: true, withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name));
  expect(rows.toSorted()).toEqual(folders.map((folder) => folder.slice(root.length)).toSorted());
});

/** Whether the source declares a function or a method with this name. */
const declares = (source: string, name: string): boolean =>
  new RegExp(`\\b(function\\*?|const) ${name}\\b|^ +(async )?${name}\\(.*\\{$`, 'm').test(source);

test('"Where things happen" names only functions that exist, in at most three steps for each question', async () => {
  const { text } = section(await readPage('CONTRIBUTING.md'), 'Where things happen');
  const prose = text.replaceAll(/\s+/g, ' ');
  const named = [...prose.matchAll(/`(\w+)` in `(src\/[\w/.-]+)`/g)];
  expect(named).toHaveLength([...prose.matchAll(/`src\//g)].length);
  for (const [place, name = '', file = ''] of named) {
    const source = await readFile(new URL(`../${file}`, docs), 'utf8');
    expect(declares(source, name), place).toBe(true);
  }
  const [, ...answers] = text.split(/^\*\*.*\?\*\*.*$/m);
  expect(answers).toHaveLength(5);
  for (const answer of answers) {
    const steps = [...answer.matchAll(/^(\d)\. /gm)].map(([, number]) => number);
    expect([['1'], ['1', '2'], ['1', '2', '3']]).toContainEqual(steps);
  }
});

test('the changelog has only section titles that a release can find', async () => {
  const { text } = await readPage('CHANGELOG.md');
  const [first, ...versions] = [...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
  expect(first).toBe('[Unreleased]');
  for (const title of versions) expect(title).toMatch(/^\[\d+\.\d+\.\d+(-[\w.-]+)?\] - \d{4}-\d{2}-\d{2}$/);
});
