import { expect, test } from 'vitest';
import { asTooMany } from '../../../src/action/changed-files/github.ts';
import type { RawResponse } from '../../../src/client/response.ts';

const date = 'Sun, 01 Mar 2026 12:00:00 GMT';
const now = Date.parse(date) / 1_000;

const response = (status: number, headers: RawResponse['headers'], message = 'No'): RawResponse => ({
  status,
  headers: { date, ...headers },
  bytes: Buffer.from(JSON.stringify({ message })),
  tooLarge: false,
  endIsUnsure: false,
});

test.each<[string, RawResponse, string]>([
  ['with Retry-After', response(403, { 'retry-after': '7' }), '7'],
  ['when the hour ends', response(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${now + 90}` }), '90'],
  ['when it has ended', response(429, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${now - 9}` }), '0'],
  ['in a minute', response(403, {}, 'You have exceeded a secondary rate limit.'), '60'],
])('a refusal for too many requests says when to come back: %s', (_name, received, wait) => {
  expect(asTooMany(received)).toMatchObject({ status: 429, headers: { 'retry-after': wait, date } });
});

test.each<[string, RawResponse]>([
  ['one without a permission', response(403, { 'x-ratelimit-remaining': '4999', 'x-ratelimit-reset': `${now + 90}` })],
  ['one of success, though it was the last', response(200, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9' })],
  ['one for a while', response(503, { 'retry-after': '7' })],
])('another answer stays what it is: %s', (_name, received) => {
  expect(asTooMany(received)).toBe(received);
});
