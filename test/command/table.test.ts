import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printLines, shortened, tableLines, textTable } from '../../src/command/print.ts';
import { safeText } from '../../src/interface/safe-text.ts';
import { runs } from '../support/runs.ts';

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

test('on a terminal, the widest column shrinks, and a path keeps its end', () => {
  const rows = [['Content/Characters/Heroes/Armour/Hero.uasset', 'ada', 'The new armour of the hero, for the trailer']];
  expect(tableLines({ columns, rows }, 60)).toEqual([
    'PATH                       OWNER  NOTE',
    '…eroes/Armour/Hero.uasset  ada    The new armour of the her…',
  ]);
});

test('an id is never shortened, because the next command needs it', () => {
  const id = 'tok_0b7c0f3e-3d5c-4c58-9a53-6f2f5a8f6a11';
  const rows = [[id, 'sync,locks:write,hooks:write,contents:read']];
  const [, row = ''] = tableLines({ columns: ['ID', 'SCOPES'], rows }, 60);
  expect(row).toMatch(new RegExp(`^${id}  sync`));
  expect(row).toHaveLength(60);
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

test('a text is shortened to the width without breaking characters', () => {
  expect(shortened('Hero.uasset', 11)).toBe('Hero.uasset');
  expect(shortened('A note of some length', 7)).toBe('A note…');
  expect(shortened('a/b/c/d/e', 4)).toBe('…d/e');
  expect(shortened('名/前/名/前', 6)).toBe('…名/前');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 20 }), (text, width) => {
      const shown = shortened(text, width);
      expect(shown === text || shown.includes('…')).toBe(true);
      expect(shown.isWellFormed() || !text.isWellFormed()).toBe(true);
    }),
    { numRuns: runs(200, 5_000) },
  );
});

test('a pipe receives complete rows of any length', () => {
  const written: string[] = [];
  const lines = textTable(['a'.repeat(500)], { PATH: (path) => path, NOTE: () => undefined }, 'None.');
  printLines({ write: (text) => void written.push(text) }, lines);
  expect(written.join('')).toContain('a'.repeat(500));
});
