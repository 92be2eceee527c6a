import { describe, expect, test } from 'vitest';
import { atLeast, atMost, exactly } from '../../bench/benchmark.ts';
import type { Declared } from '../support/soak/figures.ts';
import { readNotes } from '../support/soak/notes.ts';
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
    '',
    file,
    '  rounds          1,234  at least 500  kept',
    '  until the end  5.50 s  at most 5 s   MISSED',
    '  lost locks          0  exactly 0     kept',
    '',
    'One limit is missed.',
  ]);
  expect(missed).toBe(1);
});

describe('a figure that was told several times', () => {
  test.each([
    [rounds, [700, 499, 600], '499', 'MISSED'],
    [late, [2, 7, 1], '7 s', 'MISSED'],
    [lost, [0, 2, 0], '2', 'MISSED'],
    [rounds, [700, 600], '600', 'kept'],
    [late, [2, 1], '2 s', 'kept'],
    [lost, [0, 0], '0', 'kept'],
  ])('counts with the worst: %j of %j', (declared, values, shown, verdict) => {
    const { text } = tableOf(declared, ...values);
    expect(text).toMatch(new RegExp(`^  a figure +${shown} .*${verdict}$`, 'm'));
  });

  test.each([
    [2, 1],
    [3, 0],
    [4, 1],
  ])('counts as a sum where tests count together: %d times is %d missed', (times, missed) => {
    expect(tableOf(cells, ...Array.from({ length: times }, () => 1)).missed).toBe(missed);
  });
});

test('a figure that did not come, because its test died, is missed', () => {
  for (const declared of [rounds, late, lost, cells]) {
    const { text, missed } = tableOf(declared);
    expect(text).toMatch(/^ {2}a figure {2}not measured {2}(at|exactly) .* {2}MISSED$/m);
    expect(missed).toBe(1);
  }
});

test('what is no number has kept no limit', () => {
  for (const declared of [rounds, late, lost]) {
    expect(tableOf(declared, 1_000, Number.NaN, 0).missed).toBe(1);
  }
  expect(readNotes('{"name":"a figure","value":null}\n')).toEqual([{ name: 'a figure', value: Number.NaN }]);
});

test('a figure whose test was left out is neither kept nor missed, and has its reason', () => {
  const figures = { lost };
  const { text, missed } = soakTable([{ file, figures, leftOut: 'There is no PostgreSQL.' }], []);
  expect(text).toMatch(/^ {2}lost {2}left out {2}exactly 0$/m);
  expect(text).toContain('  left out: There is no PostgreSQL.\n');
  expect(missed).toBe(0);
});

test('a run in which every limit is kept says so', () => {
  expect(tableOf(lost, 0).text).toMatch(/\nEvery limit is kept\.$/);
});

test('what other parts have told is not of this one', () => {
  expect(soakTable([{ file, figures: { lost } }], [{ name: 'rounds', value: 0 }]).text).toContain('not measured');
});
