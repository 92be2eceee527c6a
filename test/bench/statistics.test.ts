import fc from 'fast-check';
import { expect, test } from 'vitest';
import { medianInterval, medianOf, medianRatio, middleMean, percentilesOf } from '../../bench/statistics.ts';

const numbers = fc.array(fc.double({ min: 0, max: 1_000, noNaN: true }), { minLength: 1 });

test('the interval of a median holds it, and is made of what was measured: of a hundred, two tenths', () => {
  fc.assert(
    fc.property(numbers, (values) => {
      const median = medianOf(values);
      const [from, to] = medianInterval(values);
      expect(from).toBeLessThanOrEqual(median);
      expect(to).toBeGreaterThanOrEqual(median);
      expect(values).toContain(from);
      expect(values).toContain(to);
    }),
  );
  const hundred = Array.from({ length: 100 }, (_, index) => index);
  expect(medianOf(hundred)).toBe(49.5);
  expect(medianInterval(hundred)).toEqual([39, 60]);
  expect(medianOf([9, 1, 5])).toBe(5);
});

test('a quarter at either end does not count in the mean of the middle, whatever it is', () => {
  expect(middleMean([-1_000, 2, 3, 1_000])).toBe(2.5);
  expect(middleMean([7])).toBe(7);
});

test('a percentile is one of the numbers, with so many of them not above it, and with too few below', () => {
  fc.assert(
    fc.property(numbers, fc.double({ min: 0.1, max: 100, noNaN: true }), (values, percent) => {
      const [[, value] = [0, Number.NaN]] = percentilesOf(values, [percent]);
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
