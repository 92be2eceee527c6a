import { expect, test } from 'vitest';
import { relativeTime, timeLeft } from '../../../src/service/dashboard/assets/time.js';
import { countText } from '../../../src/service/dashboard/elements/lock.ts';
import { maxCounted } from '../../../src/service/locks/list.ts';

test.each([
  [200, 200, '200 locks'],
  [100, 4_956, '100 of 4,956 locks'],
  [100, maxCounted + 1, '100 of more than 10,000 locks'],
])('%i locks of %i are shown as "%s"', (shown, all, text) => {
  expect(countText(shown, all)).toBe(text);
});

test.each([
  [0, 'expired'],
  [1, '1 s'],
  [61_000, '1 min 01 s'],
  [3_600_000, '1 h 00 min'],
  [90_061_000, '1 d 01 h'],
])('a lock with %i ms left shows %s', (milliseconds, text) => {
  expect(timeLeft(milliseconds)).toBe(text);
});

test.each([
  [1, 'now'],
  [89, '89 s ago'],
  [90, '2 min ago'],
  [7_199, '120 min ago'],
  [7_200, '2 h ago'],
  [172_800, '2 d ago'],
  [-95, 'in 2 min'],
])('a time %d s ago is shown as %s', (seconds, text) => {
  expect(relativeTime(0, seconds * 1_000)).toBe(text);
});
