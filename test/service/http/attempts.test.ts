import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limitAttempts, subscriberOf } from '../../../src/service/http/attempts.ts';

const limit = { max: 3, everyMs: 1_000 };

test('no address can fail more often than allowed within the interval', () => {
  const step = fc.record({
    address: fc.constantFrom('a', 'b'),
    after: fc.integer({ min: 0, max: 600 }),
    right: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 0;
      const attempt = limitAttempts(limit, () => now);
      const began = new Map<string, number>();
      const failures = new Map<string, number>();
      for (const { address, after, right } of steps) {
        now += after;
        const response = attempt(address);
        const start = began.get(address);
        if (start === undefined || now - start >= limit.everyMs) {
          began.set(address, now);
          failures.set(address, 0);
        }
        const failed = failures.get(address) ?? 0;
        if (response.kind === 'refused') {
          expect(failed).toBe(limit.max);
          expect(response.retryAfterSeconds).toBeGreaterThan(0);
          expect(response.retryAfterSeconds * 1_000).toBeGreaterThanOrEqual(
            (began.get(address) ?? 0) + limit.everyMs - now,
          );
        } else if (right) response.succeeded();
        else failures.set(address, failed + 1);
        expect(failures.get(address) ?? 0).toBeLessThanOrEqual(limit.max);
      }
    }),
  );
});

test('concurrent attempts count before any of them has ended', () => {
  const attempt = limitAttempts(limit, () => 0);
  const answers = Array.from({ length: 5 }, () => attempt('a').kind);
  expect(answers).toEqual(['allowed', 'allowed', 'allowed', 'refused', 'refused']);
  expect(attempt('b').kind).toBe('allowed');
});

test.each([
  ['2001:db8:1:2::7', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['192.0.2.7', '192.0.2.7'],
  ['', ''],
])('attempts from "%s" count as those of "%s"', (address, subscriber) => {
  expect(subscriberOf(address)).toBe(subscriber);
});
