import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newWebhookSecret, parseSecret, secretKey, signedHeaders } from '../../../src/service/webhooks/signature.ts';
import { valueIn } from '../../support/value-in.ts';
import { whyOf } from './samples.ts';

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

test('new secrets have 32 bytes, and differ', () => {
  expect(secretKey(newWebhookSecret())).toHaveLength(32);
  expect(newWebhookSecret()).not.toBe(newWebhookSecret());
});
