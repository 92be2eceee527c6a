import { expect, test } from 'vitest';
import { atLeast, atMost, exactly, verdictOn } from '../../bench/benchmark.ts';
import { figuresOf } from '../../bench/results.ts';
import type { Declared } from './figures.ts';
import { judge } from './judge.ts';
import { readNotes } from './notes.ts';

const rounds: Declared = { unit: '', limit: atLeast(500, 'so it is') };
const late: Declared = { unit: 's', limit: atMost(5, 'so it is') };
const lost: Declared = { unit: '', limit: exactly(0, 'so it is') };
const cells: Declared = { unit: '', limit: exactly(3, 'so it is'), sum: true };

const file = 'test/fire/some.test.ts';

test.each([
  ['the worst one counts', rounds, [700, 499, 600], 499, 'MISSED'],
  ['the worst one counts', late, [2, 7, 1], 7, 'MISSED'],
  ['the worst one counts', lost, [0, 2, 0], 2, 'MISSED'],
  ['all are within the limit', lost, [0, 0], 0, 'kept'],
  ['all are added up', cells, [1, 1, 1], 3, 'kept'],
  ['all are added up', cells, [1, 1, 1, 1], 4, 'MISSED'],
  ['none were reported', late, [], Number.NaN, 'MISSED'],
  ['one is not a number', rounds, [1_000, Number.NaN], Number.NaN, 'MISSED'],
])('judges all reported values of a figure (%s): %j becomes %j', (_, declared, values, value, verdict) => {
  const notes = values.map((each) => ({ name: 'a figure', value: each }));
  const [figure] = figuresOf(judge({ file, figures: { 'a figure': declared } }, notes));
  expect(figure).toMatchObject({ name: 'a figure', value });
  expect(figure && verdictOn(figure)).toBe(verdict);
});

test('a figure of a skipped test is neither kept nor missed, and has a reason', () => {
  const reason = 'There is no PostgreSQL.';
  expect(judge({ file, figures: { lost }, leftOut: reason }, [])).toMatchObject({
    figures: [],
    leftOut: [{ name: file, reason }],
  });
});

test('NaN survives the file of figures', () => {
  expect(readNotes('{"name":"a figure","value":null}\n')).toEqual([{ name: 'a figure', value: Number.NaN }]);
});
