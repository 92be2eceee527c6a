import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { type HookFormat, hookFormats } from '../../../src/interface/resources.ts';
import type { HookEventOccurrence } from '../../../src/service/outbox/event.ts';
import type { HookRow } from '../../../src/service/outbox/outbox.ts';
import { nextAttemptAfter } from '../../../src/service/webhooks/deliver.ts';
import { deliveryRequest } from '../../../src/service/webhooks/formats.ts';
import { parseSecret, secretKey, signedHeaders } from '../../../src/service/webhooks/signature.ts';
import { valueIn } from '../../support/value-in.ts';
import { hookRow, released, succeeded, whyOf } from './samples.ts';

const requestOf = (hook: HookRow, occurrence: HookEventOccurrence) => deliveryRequest(hook, occurrence, new Date());
const bodyOf = (format: HookFormat, occurrence: HookEventOccurrence) =>
  JSON.parse(requestOf(hookRow({ format }), occurrence).body);

test('the github format is a repository dispatch with the standard payload and the id', () => {
  expect(requestOf(hookRow({ format: 'github' }), released).headers).toMatchObject({
    'content-type': 'application/json',
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
    'user-agent': 'workspace-automation',
  });
  expect(bodyOf('github', released)).toEqual({
    event_type: 'lock.released',
    client_payload: { id: 'evt_2', ...bodyOf('standard', released) },
  });
});

test('every format is signed over the sent body', () => {
  for (const format of hookFormats) {
    const hook = hookRow({ format });
    const { body, headers } = requestOf(hook, succeeded);
    expect(new Webhook(hook.secret).verify(body, { ...headers })).toEqual(JSON.parse(body));
    expect(headers['webhook-id']).toBe(succeeded.id);
  }
});

test("a hook's own headers are added, and replace those of its format", () => {
  const headers = { Authorization: 'Bearer abc', 'User-Agent': 'game-hooks' };
  expect(requestOf(hookRow({ format: 'github', headers }), released).headers).toMatchObject({
    authorization: 'Bearer abc',
    accept: 'application/vnd.github+json',
    'content-type': 'application/json',
    'user-agent': 'game-hooks',
  });
});

const written = (bytes: Uint8Array): string => `whsec_${Buffer.from(bytes).toString('base64')}`;

const anySecret = fc.uint8Array({ minLength: 24, maxLength: 64 }).map((bytes) => valueIn(parseSecret(written(bytes))));

const verify = (secret: string, body: string | Buffer, headers: Record<string, string>): unknown =>
  new Webhook(secret).verify(body, headers, { jsonParse: false });

test('a receiver with the standardwebhooks package verifies every body, id and secret', () => {
  fc.assert(
    fc.property(
      anySecret,
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/),
      (secret, body, id) => {
        const headers = signedHeaders({ id, timestamp: new Date(), body, secret });
        expect(() => verify(secret, Buffer.from(body), { ...headers })).not.toThrow();
      },
    ),
  );
});

test('a secret is the canonical encoding of 24 to 64 bytes, which all receivers decode alike', () => {
  const nearly = fc
    .tuple(fc.uint8Array({ minLength: 22, maxLength: 67 }), fc.nat(), fc.constantFrom(...'AQgwB=+/-_ \n', ''))
    .map(([bytes, at, character]) => {
      const text = written(bytes);
      const place = text.length - 1 - (at % 4);
      return text.slice(0, place) + character + text.slice(place + 1);
    });
  const exactly = fc.uint8Array({ maxLength: 70 }).map(written);
  fc.assert(
    fc.property(fc.oneof(nearly, exactly), (text) => {
      const bytes = Buffer.from(text.slice('whsec_'.length), 'base64');
      const parsed = parseSecret(text);
      expect(parsed.ok).toBe(written(bytes) === text && bytes.length >= 24 && bytes.length <= 64);
      if (parsed.ok) expect(secretKey(parsed.value)).toEqual(bytes);
    }),
    { numRuns: 1_000 },
  );
  const key = Buffer.alloc(32).toString('base64');
  for (const text of [key, `whsk_${key}`, `WHSEC_${key}`]) expect(parseSecret(text).ok).toBe(false);
});

test('the rejection of a secret explains how to generate one, and repeats nothing of the value', () => {
  const reason = whyOf(parseSecret('whsec_hunter2hunter2'));
  expect(reason).toContain('openssl rand -base64 32');
  expect(reason).not.toContain('hunter2');
});

const maxAttempts = 10;

const attempts = Array.from({ length: maxAttempts }, (_, made) => made);

test('attempts follow the schedule of Standard Webhooks, and end with it', () => {
  let sinceStart = 0;
  const times = attempts.map((made) => {
    sinceStart += nextAttemptAfter(made, () => 0) ?? Number.NaN;
    return `${Math.floor(sinceStart / 3_600_000)}:${new Date(sinceStart).toISOString().slice(14, 19)}`;
  });
  expect(times.slice(0, 5)).toEqual(['0:00:00', '0:00:05', '0:05:05', '0:35:05', '2:35:05']);
  expect(times.slice(5)).toEqual(['7:35:05', '17:35:05', '31:35:05', '51:35:05', '75:35:05']);
  expect(nextAttemptAfter(maxAttempts)).toBeUndefined();
  expect(nextAttemptAfter(maxAttempts + 1)).toBeUndefined();
});

test('jitter delays an attempt by at most about 10%, and never makes it early', () => {
  fc.assert(
    fc.property(fc.constantFrom(...attempts), fc.double({ min: 0, max: 1, noNaN: true }), (made, random) => {
      const exact = nextAttemptAfter(made, () => 0) ?? Number.NaN;
      const spread = nextAttemptAfter(made, () => random) ?? Number.NaN;
      expect(spread).toBeGreaterThanOrEqual(exact);
      expect(spread).toBeLessThanOrEqual(exact * 1.1 + 1);
    }),
  );
  expect(nextAttemptAfter(1, () => 0.9)).not.toBe(nextAttemptAfter(1, () => 0.1));
});
