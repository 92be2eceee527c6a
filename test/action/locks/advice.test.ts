import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alreadyHeldText, blockedAdvice, waitAdvice } from '../../../src/action/locks/advice.ts';
import { milliseconds, parseDuration } from '../../../src/interface/duration.ts';
import { lockPath, ttl } from '../../client/test-client.ts';
import { conflictOf, iso, start } from '../../locks/samples.ts';
import { valueIn } from '../../support/value-in.ts';

const adviceAfter = (ms: number): string => waitAdvice(iso(ms), start);

test('rounding of times by the service does not change the advised wait', () => {
  for (const ms of [-900, -1, 0, 1, 999]) {
    expect(adviceAfter(12 * 60_000 + ms)).toBe('Set `wait: 15m` to wait for it.');
    expect(adviceAfter(2 * 3_600_000 + ms)).toBe('Set `wait: 3h` to wait for it.');
  }
});

test('the advised wait is always longer than the lock, but not much longer', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 * 3_600_000 }), (ms) => {
      const [, wait = ''] = /`wait: (.*)`/.exec(adviceAfter(ms)) ?? [];
      const duration = milliseconds(valueIn(parseDuration(wait)));
      expect(duration).toBeGreaterThan(ms);
      expect(duration).toBeLessThanOrEqual(1.5 * ms + 120_000);
    }),
  );
});

test.each([
  ['has no known end', undefined],
  ['has an invalid end', 'soon'],
  ['has just expired', iso(0)],
  ['outlives every job', iso(6 * 3_600_000 + 60_000)],
])('advises no duration for a lock that %s', (_, expiresAt) => {
  expect(waitAdvice(expiresAt, start)).toBe('Set `wait` to wait for it.');
});

test.each([
  ['holds some of its paths', ['a', 'b'], 3_600, 'Name only the other paths in this step, or'],
  [
    'holds all of its paths for long enough',
    ['a'],
    1_800,
    'for at least half of its `ttl` of 1h: leave this step out, or',
  ],
  [
    'holds all of its paths for a short time',
    ['a'],
    1_799,
    'leave it out and increase the `ttl` of the earlier step, or',
  ],
])('advises what to do instead of waiting if the job already %s', (_, asked, seconds, advice) => {
  const own = { path: lockPath('a'), owner: undefined, expiresAt: start + seconds * 1_000, stepName: 'lock-hero' };
  const text = alreadyHeldText([own], { paths: asked.map(lockPath), count: asked.length, ttl: ttl('1h') }, start);
  expect(text).toMatch(/^This job already holds a: the step `lock-hero` locked it, until 1\d:\d\d UTC/);
  expect(text).toContain(`${advice} release locks that are no longer needed with \`operation: unlock\` before`);
});

test('advises any of several to wait for the lock that expires first', () => {
  const blocked = { conflicts: [conflictOf('a', 50), conflictOf('b', 40)], count: 1, of: 2 } as const;
  expect(blockedAdvice(blocked, undefined, start)).toBe('Set `wait: 45m` to wait for one of them.');
  expect(blockedAdvice(blocked, { seconds: 90 }, start)).toBe(
    'Waited 90s for one of them. Increase `wait` to wait longer.',
  );
});
