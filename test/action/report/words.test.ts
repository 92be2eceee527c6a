import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clockTime, count, distance, duration, grouped, moment } from '../../../src/action/report/words.ts';

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
