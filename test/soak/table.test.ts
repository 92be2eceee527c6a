import { expect, test } from 'vitest';
import { atLeast, atMost, exactly } from '../../bench/benchmark.ts';
import type { Declared } from '../support/soak/figures.ts';
import { soakTable } from '../support/soak/table.ts';

const rounds: Declared = { unit: '', limit: atLeast(500, 'so it is') };
const late: Declared = { unit: 's', limit: atMost(5, 'so it is') };
const lost: Declared = { unit: '', limit: exactly(0, 'so it is') };
const cells: Declared = { unit: '', limit: exactly(3, 'so it is'), sum: true };

const file = 'test/fire/some.test.ts';

/** The table of one figure, of which its test has told these values. */
const tableOf = (declared: Declared, ...values: readonly number[]) =>
  soakTable(
    [{ file, figures: { 'a figure': declared } }],
    values.map((value) => ({ name: 'a figure', value })),
  );

test('beside each figure is its limit and what became of it, under the test that it is from', () => {
  const figures = { rounds, 'until the end': late, 'lost locks': lost };
  const notes = [
    { name: 'rounds', value: 1_234 },
    { name: 'until the end', value: 5.5 },
    { name: 'lost locks', value: 0 },
  ];
  const { text, missed } = soakTable([{ file, figures }], notes);
  expect(text.split('\n')).toEqual([
    `  ${file}`,
    '  rounds                   1,234  at least 500  kept',
    '  until the end           5.50 s  at most 5 s   MISSED',
    '  lost locks                   0  exactly 0     kept',
    '',
    'One limit is missed.',
  ]);
  expect(missed).toBe(1);
});

test.each([
  ['the worst counts', rounds, [700, 499, 600], '499', 'MISSED'],
  ['the worst counts', late, [2, 7, 1], '7 s', 'MISSED'],
  ['the worst counts', lost, [0, 2, 0], '2', 'MISSED'],
  ['all are kept', lost, [0, 0], '0', 'kept'],
  ['tests count together', cells, [1, 1, 1], '3', 'kept'],
  ['tests count together', cells, [1, 1, 1, 1], '4', 'MISSED'],
  ['its test died', late, [], 'not measured', 'MISSED'],
  ['one is no number', rounds, [1_000, Number.NaN], 'none', 'MISSED'],
])('of a figure that was told several times, or never, %s: %j of %j', (_, declared, values, shown, verdict) => {
  const { text, missed } = tableOf(declared, ...values);
  expect(text).toMatch(new RegExp(`^  a figure +${shown} .*${verdict}$`, 'm'));
  expect(missed).toBe(verdict === 'kept' ? 0 : 1);
  if (verdict === 'kept') expect(text).toMatch(/\nEvery limit is kept\.$/);
});

test('a figure whose test was left out is neither kept nor missed, and has its reason', () => {
  const { text, missed } = soakTable([{ file, figures: { lost }, leftOut: 'There is no PostgreSQL.' }], []);
  expect(text).toMatch(/^ {2}lost +left out {2}exactly 0$/m);
  expect(text).toContain(`${file} left out: There is no PostgreSQL.\n`);
  expect(missed).toBe(0);
});
