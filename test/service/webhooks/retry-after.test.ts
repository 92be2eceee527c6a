import { expect, test } from 'vitest';
import { retryAfterSeconds } from '../../../src/service/webhooks/retry-after.ts';

const now = new Date('2026-03-04T10:00:00.500Z');

test.each([
  ['seconds', '120', 120],
  ['a part of a second, which counts as a whole one', '1.5', 2],
  ['a date', 'Wed, 04 Mar 2026 10:01:00 GMT', 60],
  ['more than a day, which counts as a day', '99999999999999999999', 86_400],
  ['a date in ten years, which counts as a day', 'Tue, 04 Mar 2036 10:00:00 GMT', 86_400],
  ['nothing', 'soon', undefined],
])('a receiver may ask for %s', (_, field, seconds) => {
  expect(retryAfterSeconds(field, now)).toBe(seconds);
});
