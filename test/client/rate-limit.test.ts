import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rateLimitIn } from '../../src/client/rate-limit.ts';
import { start } from './test-client.ts';

const minute = { quota: 100, windowMs: 60_000 };

describe('what remains of a rate limit is read', () => {
  test.each([
    [
      'from the fields of the draft',
      { ratelimit: '"token";r=12;t=3', 'ratelimit-policy': '"token";q=100;w=60' },
      { remaining: 12, resetMs: 3_000, policy: minute },
    ],
    ['without a policy', { ratelimit: '"token";r=0;t=7' }, { remaining: 0, resetMs: 7_000, policy: undefined }],
    [
      'of the policy with its name, whatever separators that has',
      { ratelimit: '"a,;=b" ; r=5', 'ratelimit-policy': '"x";q=1;w=1, "a,;=b";w=60;q=100;pk=:c2Vz:' },
      { remaining: 5, resetMs: undefined, policy: minute },
    ],
    [
      'of the limit that will be met first',
      { ratelimit: '"hour";r=50;t=9, "token";r=2;t=1,"day";r=2;t=4' },
      { remaining: 2, resetMs: 4_000, policy: undefined },
    ],
    [
      'from the headers of its first versions',
      { 'ratelimit-limit': '100', 'ratelimit-remaining': '3', 'ratelimit-reset': '20' },
      { remaining: 3, resetMs: 20_000, policy: undefined },
    ],
    [
      'from those of GitHub and others, who tell a moment',
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(start / 1_000 + 90) },
      { remaining: 0, resetMs: 90_000, policy: undefined },
    ],
  ])('%s', (_, headers, status) => {
    expect(rateLimitIn(headers, start)).toEqual(status);
  });

  test.each([
    {},
    { ratelimit: '' },
    { ratelimit: 'unlimited' },
    { ratelimit: '"token";r=-1;t=1' },
    { ratelimit: '"token";r="many"' },
    { 'x-ratelimit-remaining': 'a few' },
  ])('%j says nothing', (headers) => {
    expect(rateLimitIn(headers, start)).toBeUndefined();
  });
});

test('no field is too strange or too long to be read, and what is read can be counted with', () => {
  const piece = fc.constantFrom('"', ',', ';', '=', 'r', 'r=', 't=', '"token";r=1', '1', '9'.repeat(400), ' ', 'é');
  const field = fc.oneof(
    fc.string(),
    fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
    piece.map((text) => text.repeat(20_000)),
  );
  const names = ['ratelimit', 'ratelimit-policy', 'ratelimit-remaining', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
  const began = performance.now();
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), field, { noNullPrototype: true }), (headers) => {
      const status = rateLimitIn(headers, start);
      if (status === undefined) return;
      expect(status.remaining).toBeGreaterThanOrEqual(0);
      expect(status.resetMs ?? 0).toBeGreaterThanOrEqual(0);
      expect(status.policy?.windowMs ?? 1).toBeGreaterThan(0);
    }),
    { numRuns: 1_000 },
  );
  expect(performance.now() - began).toBeLessThan(20_000);
});
