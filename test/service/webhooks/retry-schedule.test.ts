import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxAttempts, nextAttemptAfter } from '../../../src/service/webhooks/deliver.ts';

const attempts = Array.from({ length: maxAttempts }, (_, made) => made);

test('attempts follow the schedule of Standard Webhooks, and end with it', () => {
  let sinceStart = 0;
  const times = attempts.map((made) => {
    sinceStart += nextAttemptAfter(made, () => 0) ?? Number.NaN;
    return `${Math.floor(sinceStart / 3_600_000)}:${new Date(sinceStart).toISOString().slice(14, 19)}`;
  });
  expect(times.slice(0, 5)).toEqual(['0:00:00', '0:00:05', '0:05:05', '0:35:05', '2:35:05']);
  expect(times.slice(5)).toEqual(['7:35:05', '17:35:05', '31:35:05', '51:35:05', '75:35:05']);
  expect(nextAttemptAfter(maxAttempts)).toBeUndefined();
  expect(nextAttemptAfter(maxAttempts + 1)).toBeUndefined();
});

test('jitter delays an attempt by at most about 10%, and never makes it early', () => {
  fc.assert(
    fc.property(fc.constantFrom(...attempts), fc.double({ min: 0, max: 1, noNaN: true }), (made, random) => {
      const exact = nextAttemptAfter(made, () => 0) ?? Number.NaN;
      const spread = nextAttemptAfter(made, () => random) ?? Number.NaN;
      expect(spread).toBeGreaterThanOrEqual(exact);
      expect(spread).toBeLessThanOrEqual(exact * 1.1 + 1);
    }),
  );
  expect(nextAttemptAfter(1, () => 0.9)).not.toBe(nextAttemptAfter(1, () => 0.1));
});
