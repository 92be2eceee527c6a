import { expect, test } from 'vitest';
import { toRateLimited } from '../../../src/action/step/github.ts';
import type { RawResponse } from '../../../src/client/response.ts';

const date = 'Sun, 01 Mar 2026 12:00:00 GMT';
const now = Date.parse(date) / 1_000;

const response = (status: number, headers: RawResponse['headers'], message = 'No'): RawResponse => ({
  status,
  headers: { date, ...headers },
  bytes: Buffer.from(JSON.stringify({ message })),
  tooLarge: false,
});

test.each<[string, RawResponse, string]>([
  ['from Retry-After', response(403, { 'retry-after': '7' }), '7'],
  [
    'until the reset of the limit',
    response(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${now + 90}` }),
    '90',
  ],
  [
    'no wait if the reset has passed',
    response(429, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${now - 9}` }),
    '0',
  ],
  ['one minute for a secondary rate limit', response(403, {}, 'You have exceeded a secondary rate limit.'), '60'],
])('a rejection for too many requests says how long to wait: %s', (_name, received, wait) => {
  expect(toRateLimited(received)).toMatchObject({ status: 429, headers: { 'retry-after': wait, date } });
});

test.each<[string, RawResponse]>([
  [
    '403 for a missing permission',
    response(403, { 'x-ratelimit-remaining': '4999', 'x-ratelimit-reset': `${now + 90}` }),
  ],
  ['success that uses up the limit', response(200, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9' })],
  ['503 with Retry-After', response(503, { 'retry-after': '7' })],
])('leaves other responses unchanged: %s', (_name, received) => {
  expect(toRateLimited(received)).toBe(received);
});
