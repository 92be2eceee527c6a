import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  alreadyHeldText,
  blockedAdvice,
  blockedText,
  lostRenewalText,
  waitAdvice,
} from '../../../src/action/locks/messages.ts';
import { milliseconds, parseDuration } from '../../../src/interface/duration.ts';
import { lockPath, ttl } from '../../client/test-client.ts';
import { valueIn } from '../../support/value-in.ts';
import { errorOf, iso, knownLock, place, refused, start } from '../samples.ts';

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

describe('the messages for any of several paths', () => {
  const minute = 60_000;
  const conflict = (path: string, minutes: number) => ({
    path: lockPath(path),
    holder: knownLock(path, { owner: `owner of ${path}`, expires_at: iso(minutes * minute) }),
    retryAfterMs: undefined,
    supportsWait: false,
    error: errorOf(refused(409)),
  });
  const others = ['b', 'c', 'd', 'e'].map((path, index) => conflict(path, 40 - index));
  const five = [conflict('a', 50), ...others] as const;

  test('name the first three holders, and count the rest', () => {
    const held = (path: string, clock: string) =>
      `${path} is held by owner of ${path} until ${clock} UTC \\(in \\d+ min\\)`;
    const named = `${held('a', '12:50')}; ${held('b', '12:40')}; ${held('c', '12:39')}; and 2 more`;
    expect(blockedText({ conflicts: five, count: 1, of: 5 }, start)).toMatch(
      new RegExp(`^None of the 5 paths is free: ${named}$`),
    );
    expect(blockedText({ conflicts: five, count: 3, of: 7 }, start)).toMatch(
      new RegExp(`^At most 2 of the 7 paths can be free, and \`any\` asks for 3: ${named}$`),
    );
  });

  test('advise to wait for the lock that expires first', () => {
    const blocked = { conflicts: five, count: 1, of: 5 };
    expect(blockedAdvice(blocked, undefined, start)).toBe('Set `wait: 45m` to wait for one of them.');
    expect(blockedAdvice(blocked, { seconds: 90 }, start)).toBe(
      'Waited 90s for one of them. Increase `wait` to wait longer.',
    );
  });
});

test.each<[string, Parameters<typeof lostRenewalText>[1], string]>([
  [
    'the current holder',
    knownLock('a', { acquired_at: iso(60_000) }),
    ' a is held by grace until 13:00 UTC (in 50 min), since 12:01 UTC (9 min ago).',
  ],
  ['that nobody holds the path now', 'nobody', ' Nobody holds a now.'],
  ['the holder at that time if the current one is unknown', undefined, ' It was then held by linus.'],
])('reports when a lock was lost, and %s', (_, found, rest) => {
  const loss = {
    kind: 'lost',
    ...place,
    step: 's',
    path: 'a',
    key: 'a',
    at: iso(0),
    holder: { owner: 'linus' },
  } as const;
  const text = 'The lock on a was lost at 12:00 UTC (10 min ago), when the service refused to renew it.';
  expect(lostRenewalText(loss, found, start + 600_000)).toBe(text + rest);
  expect(lostRenewalText({ ...loss, holder: undefined }, undefined, start + 600_000)).toBe(text);
});
