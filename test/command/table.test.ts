import { expect, test } from 'vitest';
import { printLines, textTable } from '../../src/command/print.ts';
import { safeText } from '../../src/interface/safe-text.ts';

test('a table keeps columns aligned and one row per line, whatever its cells contain', () => {
  const long = `${'x'.repeat(3_000)}\n`;
  const rows = [
    { path: 'Content/Hero.uasset', owner: 'ada', last_note: 'first' },
    { path: 'b', owner: 'a\u001b[2Jb', last_note: 'second' },
    { path: null, owner: 'x', last_note: long },
  ];
  const table = textTable(rows, ['path', 'owner', 'last_note'], 'None.');
  expect(table).toEqual([
    'PATH                 OWNER        LAST NOTE',
    'Content/Hero.uasset  ada          first',
    'b                    a\\u{1b}[2Jb  second',
    `-                    x            ${safeText(long)}`,
  ]);
  const written: string[] = [];
  printLines({ write: (text) => void written.push(text) }, table);
  expect(written.join('')).toBe(table.map((line) => `${line}\n`).join(''));
});
