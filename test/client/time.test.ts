import { afterEach, expect, test, vi } from 'vitest';
import { createServerClock, dateOf, steadyClock } from '../../src/client/time.ts';
import { start } from './test-client.ts';

afterEach(() => void vi.useRealTimers());

test('a clock of the machine that is set does not move the clock that lifetimes are counted by', () => {
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
