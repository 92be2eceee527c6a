import fc from 'fast-check';
import { expect, test } from 'vitest';
import { medianRatio, percentileOf } from '../../bench/statistics.ts';

const numbers = fc.array(fc.double({ min: 0, max: 1_000, noNaN: true }), { minLength: 1 });

test('a percentile is one of the values, and splits them at the given percentage', () => {
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

test('a round that is slow for both sides does not change the median ratio', () => {
  expect(medianRatio([300, 30, 3], [100, 10, 1])).toBe(3);
});
