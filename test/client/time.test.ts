import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { backoff, createServerClock, dateOf, sleep, startTimeLimit, steadyClock } from '../../src/client/time.ts';
import { start } from './test-client.ts';

afterEach(() => void vi.useRealTimers());

test('setting the clock of the machine does not change the clock that measures lifetimes', () => {
  const before = Math.floor(steadyClock());
  vi.useFakeTimers({ now: before - 7_200_000, toFake: ['Date'] });
  expect(Date.now()).toBe(before - 7_200_000);
  expect(steadyClock() - before).toBeGreaterThanOrEqual(0);
  expect(steadyClock() - before).toBeLessThan(60_000);
});

test('the age of a cached response is added to its date', () => {
  const clock = createServerClock(() => start);
  clock.observe({ date: 'Sun, 01 Mar 2026 11:00:00 GMT', age: '60' });
  expect(clock.now()).toBe(start - 3_540_000);
});

test.each([
  { date: 'Sat, 13 Sep 275760 00:00:00 GMT' },
  { date: 'Fri, 31 Dec 9999 23:59:59 GMT', age: '999999999' },
  { date: 'Mon, 01 Jan 1900 00:00:00 GMT' },
  { date: 'soon' },
  {},
])('ignores an implausible date: %j', (headers) => {
  const clock = createServerClock(() => start);
  clock.observe(headers);
  expect(dateOf(headers)).toBeUndefined();
  // Locks get their times from this clock, so it must stay in a range that ISO 8601 can express.
  expect(new Date(clock.now()).toISOString()).toBe('2026-03-01T12:00:00.000Z');
});

/** A limit with two outer signals, whose time passes when the test says so. */
function limited() {
  vi.useFakeTimers();
  const outer = new AbortController();
  const limit = startTimeLimit(1_000, [new AbortController().signal, outer.signal]);
  return { limit, outer, goOff: () => vi.advanceTimersByTime(1_000) };
}

test('a time limit ends with an outer signal, and does not count as exceeded after that', () => {
  const { limit, outer, goOff } = limited();
  outer.abort();
  expect(limit.signal.aborted).toBe(true);
  goOff();
  expect(limit.isOver()).toBe(false);
});

test('a stopped time limit does not abort its signal', () => {
  const { limit, goOff } = limited();
  limit.stop();
  goOff();
  expect(limit.signal.aborted).toBe(false);
});

test('a sleep beyond the range of timers does not end at once, but ends with its signal', async () => {
  const awake = new AbortController();
  let slept = false;
  const sleeping = sleep(2 ** 31, awake.signal).then(() => {
    slept = true;
  });
  // Node fires a timer that exceeds its range after a millisecond.
  await wait(50);
  expect(slept).toBe(false);
  awake.abort();
  await sleeping;
});

test('the backoff doubles from 0.5 to 10 s, with at least half of it waited, and never less than Retry-After', () => {
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.nat(), random, (failures, retryAfterMs, drawn) => {
      const full = Math.min(10_000, 500 * 2 ** (failures - 1));
      const ms = backoff(failures, undefined, () => drawn);
      expect(ms).toBeGreaterThanOrEqual(full / 2);
      expect(ms).toBeLessThanOrEqual(full);
      const asked = backoff(failures, retryAfterMs, () => drawn);
      expect(asked).toBeGreaterThanOrEqual(Math.max(retryAfterMs, full / 2));
      expect(asked).toBeLessThanOrEqual(Math.max(retryAfterMs + 250, 5_000));
    }),
  );
});
