import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { withTables } from '../../docs/write-tables.ts';
import { inputTable, operations } from '../../src/action/inputs/table.ts';
import { ourActionFile } from '../support/runner/action-file.ts';
import { actionPage, codeIn, decisions, readme, section, tableRows } from './pages.ts';

const actionYml = await readFile(ourActionFile, 'utf8');
const action: {
  readonly inputs: Readonly<Record<string, object>>;
  readonly outputs: Readonly<Record<string, { readonly description: string }>>;
} = parse(actionYml);

describe('the tables of inputs and outputs', () => {
  test('match action.yml; if not, run `npm run docs`', () => {
    expect(readme.text).toBe(withTables(readme.text, actionYml));
  });

  test('have every input and every output', () => {
    const names = (title: string, head: string) =>
      tableRows(section(readme, title), head).map(([name = '']) => codeIn(name)[0]);
    expect(names('Inputs', 'Input')).toEqual(Object.keys(action.inputs));
    expect(names('Outputs', 'Output')).toEqual(Object.keys(action.outputs));
  });

  test('name the operations that use an input', () => {
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

  test('escape what would break a table', () => {
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

  test('has the words of action.yml for each operation', () => {
    const description = action.outputs['status']?.description ?? '';
    for (const [who = '', words = ''] of rows) {
      const [, told = ''] = new RegExp(`${codeIn(who).join(', ')}: ([^.]*)\\.`).exec(description) ?? [];
      expect(codeIn(told).length, who).toBeGreaterThan(0);
      expect(codeIn(words), who).toEqual(expect.arrayContaining([...codeIn(told)]));
      if (who !== '`sync`') expect(codeIn(words)).toHaveLength(codeIn(told).length);
    }
  });
});

test('the tables of dependencies have every package once, and no others', async () => {
  const { dependencies, devDependencies } = JSON.parse(
    await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  const { text } = section(decisions, 'Dependencies');
  const told = [...text.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names = '']) => codeIn(names));
  expect(told.toSorted()).toEqual(Object.keys({ ...dependencies, ...devDependencies }).toSorted());
});
