import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { withLists } from '../../scripts/write-lists.ts';
import { inputTable, operations } from '../../src/action/inputs/table.ts';
import { ourActionFile } from '../support/runner/action-file.ts';
import { actionPage, codeIn, docs, readPage, section } from './pages.ts';

const actionYml = await readFile(ourActionFile, 'utf8');
const action: {
  readonly inputs: Readonly<Record<string, object>>;
  readonly outputs: Readonly<Record<string, { readonly description: string }>>;
} = parse(actionYml);

/** The names of a list, each with the operations that it is about. */
const entriesOf = (title: string) =>
  [...section(actionPage, title).text.matchAll(/^- \*\*`([\w-]+)`\*\* \(([^;)]*)/gm)].map(
    ([, name = '', who = '']) => [name, who] as const,
  );

describe('the lists of inputs and outputs', () => {
  test('match action.yml; otherwise, run `npm run docs`', () => {
    expect(actionPage.text).toBe(withLists(actionPage.text, actionYml));
    expect(entriesOf('Outputs').map(([name]) => name)).toEqual(Object.keys(action.outputs));
  });

  test('name the operations that use each input', () => {
    const shown = entriesOf('Inputs').map(([name, who]) => {
      if (who === 'all') return [name, 'all'];
      const named = codeIn(who);
      return [name, who.startsWith('all but') ? operations.filter((operation) => !named.includes(operation)) : named];
    });
    const used = Object.entries(inputTable).map(([name, { usedBy }]) => [name, usedBy]);
    // The order of the operations follows the description.
    const sorted = (rows: typeof shown) =>
      rows.map(([name, who]) => [name, typeof who === 'string' ? who : who?.toSorted()]);
    expect(sorted(shown)).toEqual(sorted(used as typeof shown));
  });
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

test('each dependency has its reason in the decisions', async () => {
  const { devDependencies } = JSON.parse(await readFile(new URL('../package.json', docs), 'utf8'));
  const named = codeIn(section(await readPage('docs/decisions.md'), 'Dependencies').text);
  expect(Object.keys(devDependencies).filter((name) => !named.includes(name))).toEqual([]);
});
