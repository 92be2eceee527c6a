import { expect, test } from 'vitest';
import { rateLimitIn } from '../../src/client/rate-limit.ts';
import { start } from './test-client.ts';

const draft = (ratelimit: string, policy?: string) => ({ ratelimit, ...(policy && { 'ratelimit-policy': policy }) });
const versions = { 'ratelimit-limit': '100', 'ratelimit-remaining': '3', 'ratelimit-reset': '20' };
const moment = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(start / 1_000 + 90) };
const minute = { quota: 100, windowMs: 60_000 };

test.each([
  ['the fields of the draft', draft('"token";r=12;t=3', '"token";q=100;w=60'), 12, 3_000, minute],
  ['fields without a policy', draft('"token";r=0;t=7'), 0, 7_000, undefined],
  [
    'a policy whose name has separators',
    draft('"a,;=b" ; r=5', '"x";q=1;w=1, "a,;=b";w=60;q=100;pk=:c2Vz:'),
    5,
    undefined,
    minute,
  ],
  [
    'the limit that will be reached first',
    draft('"hour";r=50;t=9, "token";r=2;t=1,"day";r=2;t=4'),
    2,
    4_000,
    undefined,
  ],
  ['the headers of earlier drafts', versions, 3, 20_000, undefined],
  ['the headers of GitHub and others, with a time of reset', moment, 0, 90_000, undefined],
])('the remaining rate limit is read from %s', (_, headers, remaining, resetMs, policy) => {
  expect(rateLimitIn(headers, start)).toEqual({ remaining, resetMs, policy });
});

test.each([
  {},
  draft(''),
  draft('unlimited'),
  draft('"token";r=-1;t=1'),
  draft('"token";r="many"'),
  { 'x-ratelimit-remaining': 'a few' },
])('ignores invalid rate limit headers: %j', (headers) => {
  expect(rateLimitIn(headers, start)).toBeUndefined();
});
