import { expect, test } from 'vitest';
import { parseRetryAfter } from '../../src/client/refusal.ts';

const now = Date.UTC(2026, 2, 4, 10, 0, 0, 500);

test.each([
  ['0', 0],
  [' 120 ', 120_000],
  ['1.5', 1_500],
  ['99999999999999999999', Number.MAX_SAFE_INTEGER],
  ['Wed, 04 Mar 2026 10:01:00 GMT', 59_500],
  ['Wednesday, 04-Mar-26 10:01:00 GMT', 59_500],
  ['Wed Mar  4 10:01:00 2026 GMT', 59_500],
  ['Wed, 04 Mar 2026 09:00:00 GMT', 0],
])('Retry-After %j is a wait of %d ms', (value, ms) => {
  expect(parseRetryAfter(value, now)).toBe(ms);
});

test('an invalid Retry-After is ignored', () => {
  const values = [undefined, '', 'soon', '-5', '1e3', '2026-03-04', '1e9', 'Wed, 99 Foo 2026 10:01:00 GMT'];
  expect(values.filter((value) => parseRetryAfter(value, now) !== undefined)).toEqual([]);
});
