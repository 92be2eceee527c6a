import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Answer } from '../../src/client/answer.ts';
import type { JsonObject } from '../../src/client/json.ts';
import { backoff, judgeAnswer } from '../../src/client/retry.ts';
import { createServiceText } from '../../src/client/service-text.ts';
import { problemTypePrefix } from '../../src/interface/problem.ts';

const context = { baseUrl: new URL('https://example.com/v1'), serverNow: 0, texts: createServiceText([]) };

const answer = (status: number, headers: Readonly<Record<string, string>> = {}, body?: JsonObject): Answer => ({
  status,
  headers,
  body: body === undefined ? { kind: 'empty' } : { kind: 'json', value: body, byteLength: 0 },
});

const judged = (its: Answer, keyMayHaveArrived = false) => judgeAnswer(its, context, keyMayHaveArrived);

describe('an answer', () => {
  test.each([
    200, 201, 204, 302, 400, 401, 402, 403, 404, 405, 406, 409, 410, 411, 412, 413, 415, 418, 422, 423, 431, 451, 600,
  ])('of %i is the last', (status) => {
    expect(judged(answer(status))).toEqual({ kind: 'answered', answer: answer(status) });
  });

  test.each([
    [408, undefined, 'failed', false],
    [425, undefined, 'failed', false],
    [429, undefined, 'limited', false],
    [500, undefined, 'failed', true],
    [501, undefined, 'failed', true],
    [502, undefined, 'failed', true],
    [504, undefined, 'failed', true],
    [503, undefined, 'failed', true],
    [503, 0, 'failed', true],
    [503, 7, 'unavailable', true],
    [599, undefined, 'failed', true],
  ])('of %i with a Retry-After of %s is worth another attempt: %s', (status, seconds, reason, mayBeDone) => {
    const headers = seconds === undefined ? {} : { 'retry-after': String(seconds) };
    const retryAfterMs = seconds === undefined ? undefined : seconds * 1_000;
    expect(judged(answer(status, headers))).toMatchObject({ kind: 'failed', reason, mayBeDone, retryAfterMs });
  });
});

describe('a 409 tells of a request that is still running', () => {
  test.each([
    ['as our service says it', { type: `${problemTypePrefix}request-in-progress` }, {}, false],
    [
      'in the words of another service',
      { type: 'https://example.com/idempotency', title: 'A request is outstanding for this Idempotency-Key' },
      {},
      false,
    ],
    ['in an error', { error: { code: 'x', message: 'Idempotent request in progress' } }, {}, false],
    ['by asking to come back, for a key that can have arrived', { detail: 'Conflict' }, { 'retry-after': '1' }, true],
  ])('%s', (_, body, headers, keyMayHaveArrived) => {
    expect(judged(answer(409, headers, body), keyMayHaveArrived)).toMatchObject({
      reason: 'still-running',
      mayBeDone: true,
    });
  });

  test.each([
    ['not with another type of ours', { type: `${problemTypePrefix}locked` }, {}, true],
    ['not where it names a lock', { lock: { owner: 'ada' } }, { 'retry-after': '1' }, true],
    ['not by asking to come back, for a new key', { detail: 'Conflict' }, { 'retry-after': '1' }, false],
  ])('%s', (_, body, headers, keyMayHaveArrived) => {
    expect(judged(answer(409, headers, body), keyMayHaveArrived).kind).toBe('answered');
  });
});

describe('a backoff', () => {
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  test('doubles from half a second to ten seconds, of which at least half is waited for', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), random, (failures, drawn) => {
        const full = Math.min(10_000, 500 * 2 ** (failures - 1));
        const ms = backoff(failures, undefined, () => drawn);
        expect(ms).toBeGreaterThanOrEqual(full / 2);
        expect(ms).toBeLessThanOrEqual(full);
      }),
    );
  });

  test('is never shorter than the server asks for, nor than without its word', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.nat(), random, (failures, retryAfterMs, drawn) => {
        const ms = backoff(failures, retryAfterMs, () => drawn);
        expect(ms).toBeGreaterThanOrEqual(retryAfterMs);
        expect(ms).toBeGreaterThanOrEqual(Math.min(10_000, 500 * 2 ** (failures - 1)) / 2);
        expect(ms).toBeLessThanOrEqual(Math.max(retryAfterMs + 250, 5_000));
      }),
    );
  });
});
