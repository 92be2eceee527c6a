import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatElapsed, formatNumber, formatTime, pluralize } from '../../src/interface/format.ts';

test('formats numbers as in English, and pluralizes nouns', () => {
  fc.assert(
    fc.property(fc.oneof(fc.maxSafeInteger(), fc.constantFrom(-1_234.5, 1_234.567, 0.125)), (number) => {
      expect(formatNumber(number)).toBe(number.toLocaleString('en-US'));
    }),
  );
  expect([0, 1, 12_345].map((number) => pluralize(number, 'path'))).toEqual(['0 paths', '1 path', '12,345 paths']);
  expect([1, 3].map((number) => pluralize(number, 'branch', 'branches'))).toEqual(['1 branch', '3 branches']);
});

test.each([
  [40, '0.0 s'],
  [9_900, '9.9 s'],
  [10_400, '10 s'],
  [240_000, '4 min'],
])('formats an elapsed time of %d milliseconds as %j', (milliseconds, text) => {
  expect(formatElapsed(milliseconds)).toBe(text);
});

test('formats a time with its distance from now, and with its date on another day', () => {
  const now = Date.UTC(2026, 2, 1, 13, 53);
  expect(formatTime(Date.UTC(2026, 2, 1, 14, 5), now)).toBe('14:05 UTC (in 12 min)');
  expect(formatTime(Date.UTC(2026, 2, 1, 13, 50), now)).toBe('13:50 UTC (3 min ago)');
  expect(formatTime(Date.UTC(2026, 2, 3, 13, 53), now)).toBe('2026-03-03 13:53 UTC (in 2 d)');
});
