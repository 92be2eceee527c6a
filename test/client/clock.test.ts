import { expect, test } from 'vitest';
import { createServerClock, dateOf } from '../../src/client/clock.ts';

const noon = Date.UTC(2026, 2, 1, 12);

test('the clock is that of the machine, until a server has told its own', () => {
  const clock = createServerClock(() => noon);
  expect(clock.now()).toBe(noon);
  clock.observe({ date: 'Sun, 01 Mar 2026 11:00:00 GMT' });
  expect(clock.now()).toBe(noon - 3_600_000);
  clock.observe({ date: 'Sun, 01 Mar 2026 11:00:00 GMT', age: '60' });
  expect(clock.now()).toBe(noon - 3_540_000);
});

test.each([
  { date: 'Sat, 13 Sep 275760 00:00:00 GMT' },
  { date: 'Fri, 31 Dec 9999 23:59:59 GMT', age: '999999999' },
  { date: 'Mon, 01 Jan 1900 00:00:00 GMT' },
  { date: 'soon' },
  {},
])('a time that nobody can mean is none: %j', (headers) => {
  const clock = createServerClock(() => noon);
  clock.observe(headers);
  expect(dateOf(headers)).toBeUndefined();
  // Locks have their times by this clock, and they are written down.
  expect(new Date(clock.now()).toISOString()).toBe('2026-03-01T12:00:00.000Z');
});
