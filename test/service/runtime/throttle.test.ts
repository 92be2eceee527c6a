import fc from 'fast-check';
import { expect, test } from 'vitest';
import { throttle } from '../../../src/service/runtime/limit-rate.ts';

test('events are reported at most N times per interval, and reports count the skipped events', () => {
  const pauses = fc.array(fc.nat({ max: 40 }), { maxLength: 200 });
  fc.assert(
    fc.property(pauses, fc.integer({ min: 1, max: 5 }), (steps, most) => {
      let now = 0;
      const next = throttle({ max: most, everyMs: 100 }, () => now);
      const told: number[] = [];
      let counted = 0;
      let skippedAtEnd = 0;
      for (const step of steps) {
        now += step;
        skippedAtEnd += 1;
        next(({ skipped = 0 }) => {
          told.push(now);
          counted += 1 + skipped;
          skippedAtEnd = 0;
        });
      }
      expect(counted + skippedAtEnd).toBe(steps.length);
      // After a pause, the reports of an interval can come at once, before those of the next.
      for (const at of told) {
        expect(told.filter((other) => other >= at && other < at + 100).length).toBeLessThanOrEqual(2 * most);
      }
      if (steps.length > 0) expect(told.length).toBeGreaterThan(0);
    }),
  );
});
