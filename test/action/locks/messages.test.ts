import fc from 'fast-check';
import { expect, test } from 'vitest';
import { waitAdvice } from '../../../src/action/locks/messages.ts';
import { milliseconds, parseDuration } from '../../../src/interface/duration.ts';

const now = Date.UTC(2026, 2, 1, 12);
const adviceAfter = (ms: number): string => waitAdvice(new Date(now + ms).toISOString(), now);

test.each([
  [60, '2m'],
  [5 * 60, '6m'],
  [12 * 60, '15m'],
  [20 * 60, '25m'],
  [30 * 60, '45m'],
  [60 * 60, '75m'],
  [100 * 60, '105m'],
  [2 * 3_600, '3h'],
  [6 * 3_600, '7h'],
])(
  'a lock that ends in %i s is worth a wait of %s, whatever the answer of the service has rounded',
  (seconds, wait) => {
    for (const ms of [-900, -1, 0, 1, 999]) {
      expect(adviceAfter(seconds * 1_000 + ms)).toBe(`Set \`wait: ${wait}\` to wait for it.`);
    }
  },
);

test('the advice is always longer than the lock, and never much', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 * 3_600_000 }), (ms) => {
      const [, wait = ''] = /`wait: (.*)`/.exec(adviceAfter(ms)) ?? [];
      const duration = parseDuration(wait);
      if (!duration.ok) throw new Error(duration.why);
      expect(milliseconds(duration.value)).toBeGreaterThan(ms);
      expect(milliseconds(duration.value)).toBeLessThanOrEqual(1.5 * ms + 120_000);
    }),
  );
});

test.each([
  ['has no end that is known', undefined],
  ['has an end that cannot be read', 'soon'],
  ['has just ended', new Date(now).toISOString()],
  ['outlives every job', new Date(now + 6 * 3_600_000 + 60_000).toISOString()],
])('of a lock that %s, no time is advised', (_, expiresAt) => {
  expect(waitAdvice(expiresAt, now)).toBe('Set `wait` to wait for it.');
});
