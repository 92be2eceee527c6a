import { expect, test } from 'vitest';
import { createServerClock, dateOf } from '../../src/client/clock.ts';
import { start } from './test-client.ts';

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
