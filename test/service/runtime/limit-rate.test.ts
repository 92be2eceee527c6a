import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limitRate, perMinute } from '../../../src/service/runtime/limit-rate.ts';

test('no key can fail more often than its limit allows, however many of its attempts succeed', () => {
  const step = fc.record({
    key: fc.constantFrom('a', 'b'),
    after: fc.integer({ min: 0, max: 30_000 }),
    succeeds: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 0;
      const { admit, remaining } = limitRate(perMinute(3), () => now);
      const failures = new Map([
        ['a', 0],
        ['b', 0],
      ]);
      for (const { key, after, succeeds } of steps) {
        now += after;
        const before = failures.get(key) ?? 0;
        const { seconds } = remaining(key);
        const admission = admit(key);
        if (admission.kind === 'refused') {
          expect(admission.retryAfterSeconds).toBe(seconds);
          expect(seconds).toBeGreaterThan(0);
          expect(before).toBeGreaterThanOrEqual(3);
        } else {
          expect(seconds).toBe(0);
          if (succeeds) admission.refund();
          else failures.set(key, before + 1);
        }
        expect(failures.get(key)).toBeLessThanOrEqual(3 + (now / 60_000) * 3 + 1e-6);
      }
    }),
  );
});

test('concurrent attempts count before any of them has ended', () => {
  const { admit } = limitRate(perMinute(3), () => 0);
  const answers = Array.from({ length: 5 }, () => admit('a').kind);
  expect(answers).toEqual(['admitted', 'admitted', 'admitted', 'refused', 'refused']);
  expect(admit('b').kind).toBe('admitted');
});
