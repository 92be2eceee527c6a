import { describe, expect, test } from 'vitest';
import { classifyResponse } from '../../src/client/attempt.ts';
import type { JsonObject } from '../../src/client/json.ts';
import { noMarks } from '../../src/client/marks.ts';
import { createSanitizer } from '../../src/client/sanitizer.ts';
import { problemTypePrefix } from '../../src/interface/problem.ts';

const baseUrl = new URL('https://example.com/v1');
const origin = { baseUrl, server: 'The service', receivedAt: 0, sanitizer: createSanitizer([]) };

function judged(status: number, headers: Readonly<Record<string, string>> = {}, value: JsonObject = {}, sent = false) {
  return classifyResponse({ ...origin, status, headers, body: { kind: 'json', value, byteLength: 0 } }, {}, sent, {
    ...noMarks,
    isFromService: () => true,
  });
}

describe('a response', () => {
  test('is final if another attempt would not change it', () => {
    const client = [400, 401, 402, 403, 404, 405, 406, 409, 410, 411, 412, 413, 415, 418, 422, 423, 431, 451];
    for (const status of [200, 201, 204, 302, ...client, 600]) {
      expect(judged(status)).toEqual({ response: expect.objectContaining({ status }) });
    }
  });

  test.each([
    [408, undefined, 'counted', false],
    [425, undefined, 'counted', false],
    [429, undefined, 'free', false],
    [500, undefined, 'counted', true],
    [502, undefined, 'counted', true],
    [503, undefined, 'counted', true],
    [503, 0, 'counted', true],
    [503, 7, 'free', true],
    [599, undefined, 'counted', true],
  ])('is worth another attempt with status %i and Retry-After %s: %s', (status, seconds, retry, mayBeDone) => {
    const headers = seconds === undefined ? {} : { 'retry-after': String(seconds) };
    const retryAfterMs = seconds === undefined ? undefined : seconds * 1_000;
    expect(judged(status, headers)).toMatchObject({ retry, mayBeDone, failure: { retryAfterMs } });
  });
});

describe('a 409 for a request that is still running', () => {
  const words = { type: 'https://a.test/idempotency', title: 'A request is outstanding for this Idempotency-Key' };
  const soon = { 'retry-after': '1' };

  test.each([
    ['by the problem type of this service', { type: `${problemTypePrefix}request-in-progress` }, {}, false],
    ['by the words of another service', words, {}, false],
    ['by Retry-After if the key may have arrived before', { detail: 'Conflict' }, soon, true],
  ])('is recognized %s', (_, body, headers, sent) => {
    expect(judged(409, headers, body, sent)).toMatchObject({ retry: 'free', mayBeDone: true });
  });

  test.each([
    ['with another problem type of this service', { type: `${problemTypePrefix}locked` }, true],
    ['with a lock', { lock: { owner: 'ada' } }, true],
    ['with Retry-After, but for a new key', { detail: 'Conflict' }, false],
  ])('is not assumed for a 409 %s', (_, body, sent) => {
    expect(judged(409, soon, body, sent).failure).toBeUndefined();
  });
});
