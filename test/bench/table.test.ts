import { expect, test } from 'vitest';
import { atLeast, atMost, verdictOn } from '../../bench/benchmark.ts';
import { numberText } from '../../bench/numbers.ts';
import { troubles } from '../../bench/results.ts';
import { tableOf } from '../../bench/table.ts';
import { someFigure, someResults } from './some-results.ts';

test.each([
  [5, atLeast(5, ''), 'kept'],
  [4.999, atLeast(5, ''), 'MISSED'],
  [1.25, atMost(1.25, ''), 'kept'],
  [1.2501, atMost(1.25, ''), 'MISSED'],
  [Number.NaN, atLeast(5, ''), 'MISSED'],
  [Number.NaN, atMost(5, ''), 'MISSED'],
  [5, undefined, undefined],
])('%d with %j is %s', (value, limit, verdict) => {
  expect(verdictOn(someFigure({ value, limit }))).toBe(verdict);
});

test('beside a figure is its limit and what became of it', () => {
  const figures = [
    someFigure({ name: 'a ratio', value: 4.5, unit: '×', limit: atLeast(5, 'so it is') }),
    someFigure({ name: 'a cost', value: 12_345.6, limit: atMost(20_000, 'so it is') }),
    someFigure({ name: 'a count', value: 32, unit: '' }),
  ];
  const table = tableOf(someResults({ figures }));
  expect(table).toMatch(/^ {2}a ratio +4\.50 × +at least 5 × +MISSED$/m);
  expect(table).toMatch(/^ {2}a cost +12,346 ms +at most 20,000 ms +kept$/m);
  expect(table).toMatch(/^ {2}a count +32$/m);
  expect(table).toMatch(/\nOne limit is missed\.\n$/);
});

test('what was left out is named with its reason, and is not kept', () => {
  const table = tableOf(someResults({ figures: [], leftOut: [{ name: 'curl', reason: 'There is none.' }] }));
  expect(table).toContain('  left out: curl. There is none.\n');
  expect(table).not.toMatch(/\bkept$/m);
});

test('a benchmark that failed is no success', () => {
  const results = someResults(
    {},
    { benchmarks: [{ kind: 'failed', name: 'speed', what: 'How fast.', seconds: 1, why: 'It hung.' }] },
  );
  expect(troubles(results)).toEqual(['The benchmark "speed" has failed.']);
  expect(tableOf(results)).toContain('  failed: It hung.\n');
});

test('the machine is named, and whether it had other work to do', () => {
  expect(tableOf(someResults())).toMatch(
    /^Node v24\.0\.0 on linux 6\.1, 4 × Some CPU, 8 GiB; load 0\.2 before and 1\.5 after\.\n/,
  );
  expect(tableOf(someResults())).not.toContain('other work');
  expect(tableOf(someResults({}, { loadBefore: 2.5 }))).toContain('had other work to do when this began (load 2.5)');
});

test('few rounds are shown, and many are left to the file of results', () => {
  const rounds = (count: number) =>
    tableOf(
      someResults({
        figures: [
          someFigure({
            details: [{ kind: 'rounds', name: 'rounds', unit: 'ms', values: Array.from({ length: count }, () => 7) }],
          }),
        ],
      }),
    );
  expect(rounds(3)).toContain('      rounds: 7, 7, 7 ms\n');
  expect(rounds(100)).not.toContain('rounds:');
});

test.each([
  [0.1234, '0.12'],
  [12.345, '12.3'],
  [123.45, '123'],
  [1_234_567, '1,234,567'],
  [5, '5'],
  [Number.NaN, 'none'],
])('%d is written as %s', (value, text) => {
  expect(numberText(value)).toBe(text);
});
