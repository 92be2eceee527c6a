import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clockTime, count, distance, duration, grouped, moment, span } from '../../../src/action/report/words.ts';

test.each([
  [0, '0 paths'],
  [1, '1 path'],
  [2, '2 paths'],
  [12_345, '12,345 paths'],
])('%i is counted as %j', (number, text) => {
  expect(count(number, 'path')).toBe(text);
});

test('a number is grouped as English groups it', () => {
  fc.assert(
    fc.property(fc.oneof(fc.maxSafeInteger(), fc.constantFrom(-1_234.5, 1_234.567, 0.125)), (number) => {
      expect(grouped(number)).toBe(number.toLocaleString('en-US'));
    }),
  );
});

test('a plural may be another word', () => {
  expect([1, 3].map((number) => count(number, 'branch', 'branches'))).toEqual(['1 branch', '3 branches']);
});

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

describe('a span of time', () => {
  test.each([
    [-5, '0 s'],
    [0, '0 s'],
    [0.4, '0 s'],
    [119, '119 s'],
    [119.6, '2 min'],
    [12 * minute + 20, '12 min'],
    [59 * minute + 40, '1 h'],
    [hour, '1 h'],
    [3 * hour + 20 * minute, '3 h 20 min'],
    [47 * hour + 59.7 * minute, '48 h'],
    [2 * day + 4 * hour, '2 d 4 h'],
    [30 * day, '30 d'],
  ])('of %d seconds is %j', (seconds, text) => {
    expect(span(seconds)).toBe(text);
  });

  const unit: Readonly<Record<string, number>> = { s: 1, min: minute, h: hour, d: day };
  const read = (text: string): number =>
    [...text.matchAll(/(\d+) (\w+)/g)].reduce(
      (sum, [, number, word = '']) => sum + Number(number) * (unit[word] ?? Number.NaN),
      0,
    );

  test('is told near enough, whatever it is, in parts that are carried over', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 400 * day, noNaN: true }), (seconds) => {
        const text = span(seconds);
        expect(text).toMatch(/^(\d+ s|\d+ min|\d+ h( [1-9]\d* min)?|\d+ d( [1-9]\d* h)?)$/);
        expect(text).not.toMatch(/ (60|[6-9]\d) min| 24 h$/);
        const wrong = Math.abs(read(text) - seconds);
        expect(wrong).toBeLessThanOrEqual(seconds < 2 * minute ? 0.5 : seconds < 48 * hour ? 31 : hour);
      }),
      { numRuns: 2_000 },
    );
  });
});

test.each([
  [40, '0.0 s'],
  [1_234, '1.2 s'],
  [9_900, '9.9 s'],
  [10_400, '10 s'],
  [240_000, '4 min'],
])('%d milliseconds took %j', (milliseconds, text) => {
  expect(duration(milliseconds)).toBe(text);
});

describe('a moment', () => {
  const now = Date.UTC(2026, 2, 1, 13, 53);

  test('of today has a clock time and how far it is', () => {
    expect(moment(Date.UTC(2026, 2, 1, 14, 5), now)).toBe('14:05 UTC (in 12 min)');
    expect(moment(Date.UTC(2026, 2, 1, 13, 50), now)).toBe('13:50 UTC (3 min ago)');
  });

  test('of another day has its date too', () => {
    expect(clockTime(Date.UTC(2026, 2, 2, 0, 5), now)).toBe('2026-03-02 00:05 UTC');
    expect(distance(Date.UTC(2026, 2, 3, 13, 53), now)).toBe('in 2 d');
  });
});
