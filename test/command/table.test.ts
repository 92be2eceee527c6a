import { expect, test } from 'vitest';
import { printLines, tableLines, textTable } from '../../src/command/print.ts';
import { safeText } from '../../src/interface/safe-text.ts';

const columns = ['PATH', 'OWNER', 'NOTE'];

test('a table keeps columns aligned and one row per line, whatever its cells contain', () => {
  const long = `${'x'.repeat(3_000)}\n`;
  const rows = [
    ['名前.uasset', 'ada', 'first'],
    ['e\u0301.uasset', 'a\u001b[2Jb', 'second'],
    ['', 'x', long],
  ];
  expect(tableLines({ columns, rows })).toEqual([
    'PATH         OWNER        NOTE',
    '名前.uasset  ada          first',
    'e\u0301.uasset     a\\u{1b}[2Jb  second',
    `-            x            ${safeText(long)}`,
  ]);
});

test('each row becomes a block of lines if the terminal is too narrow for a table', () => {
  const rows = [
    ['Content/Characters/Hero.uasset', 'ada-of-the-art-department', 'The new armour'],
    ['b', 'c', 'd'],
  ];
  expect(tableLines({ columns, rows }, 30)).toEqual([
    'PATH   Content/Characters/Hero.uasset',
    'OWNER  ada-of-the-art-department',
    'NOTE   The new armour',
    '',
    'PATH   b',
    'OWNER  c',
    'NOTE   d',
  ]);
});

test('a pipe receives complete rows of any length', () => {
  const written: string[] = [];
  const lines = textTable(['a'.repeat(500)], { PATH: (path) => path, NOTE: () => undefined }, 'None.');
  printLines({ write: (text) => void written.push(text) }, lines);
  expect(written.join('')).toContain('a'.repeat(500));
});
