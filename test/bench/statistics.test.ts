import fc from 'fast-check';
import { expect, test } from 'vitest';
import { medianOf, middleMean } from '../../bench/statistics.ts';

const numbers = fc.array(fc.double({ min: 0, max: 1_000, noNaN: true }), { minLength: 1 });

test.each([
  [[3], 3],
  [[4, 1], 2.5],
  [[9, 1, 5], 5],
  [[10, 2, 1, 4], 3],
])('the median of %j is %d', (values, median) => {
  expect(medianOf(values).median).toBe(median);
});

test('the interval of a median holds it, and is made of what was measured', () => {
  fc.assert(
    fc.property(numbers, (values) => {
      const { median, from, to } = medianOf(values);
      expect(from).toBeLessThanOrEqual(median);
      expect(to).toBeGreaterThanOrEqual(median);
      expect(values).toContain(from);
      expect(values).toContain(to);
    }),
  );
});

test('with the middle of a hundred, two tenths of them are in the interval', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => index);
  expect(medianOf(hundred)).toEqual({ median: 49.5, from: 39, to: 60 });
});

test('a quarter at either end does not count in the mean of the middle, whatever it is', () => {
  expect(middleMean([1, 2, 3, 4])).toBe(2.5);
  expect(middleMean([-1_000, 2, 3, 1_000])).toBe(2.5);
  expect(middleMean([7])).toBe(7);
});
