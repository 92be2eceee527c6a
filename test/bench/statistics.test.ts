import fc from 'fast-check';
import { expect, test } from 'vitest';
import { medianRatio, percentileOf } from '../../bench/statistics.ts';

const numbers = fc.array(fc.double({ min: 0, max: 1_000, noNaN: true }), { minLength: 1 });

test('a percentile is one of the numbers, with so many of them not above it, and with too few below', () => {
  fc.assert(
    fc.property(numbers, fc.double({ min: 0.1, max: 100, noNaN: true }), (values, percent) => {
      const value = percentileOf(values, percent);
      expect(values).toContain(value);
      const needed = (percent / 100) * values.length;
      expect(values.filter((each) => each <= value).length).toBeGreaterThanOrEqual(needed - 1e-9);
      expect(values.filter((each) => each < value).length).toBeLessThan(needed);
    }),
  );
});

test('rounds that were slow for both sides do not change what one is of the other', () => {
  expect(medianRatio([300, 30, 3], [100, 10, 1])).toBe(3);
});
