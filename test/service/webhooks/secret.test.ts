import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newSecret, parseSecret, secretKey } from '../../../src/service/webhooks/signature.ts';
import { valueIn, whyOf } from './samples.ts';

const written = (bytes: Uint8Array): string => `whsec_${Buffer.from(bytes).toString('base64')}`;

test('24 to 64 bytes are a secret, and the key is those bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 24, maxLength: 64 }), (bytes) => {
      expect(secretKey(valueIn(parseSecret(written(bytes))))).toEqual(Buffer.from(bytes));
    }),
  );
});

test('fewer and more bytes are refused', () => {
  for (const length of [0, 1, 23, 65, 300]) expect(parseSecret(written(new Uint8Array(length))).ok).toBe(false);
});

test.each([
  ['without its prefix', Buffer.alloc(32).toString('base64')],
  ['with another prefix', `whsk_${Buffer.alloc(32).toString('base64')}`],
  ['in base64url', `whsec_${Buffer.alloc(32, 0xff).toString('base64url')}`],
  ['without its padding', `whsec_${Buffer.alloc(32).toString('base64').replace('=', '')}`],
  ['with a line break', `${written(Buffer.alloc(32))}\n`],
  ['with bits behind the last byte', `whsec_${'A'.repeat(42)}B=`],
])('a secret %s is refused, because receivers would not agree on its bytes', (_, text) => {
  expect(parseSecret(text).ok).toBe(false);
});

test('what is accepted is what encodes back to itself', () => {
  const nearly = fc
    .tuple(fc.uint8Array({ minLength: 22, maxLength: 67 }), fc.nat(), fc.constantFrom(...'AQgwB=+/-_ ', ''))
    .map(([bytes, at, character]) => {
      const text = written(bytes);
      const place = text.length - 1 - (at % 4);
      return text.slice(0, place) + character + text.slice(place + 1);
    });
  fc.assert(
    fc.property(nearly, (text) => {
      const bytes = Buffer.from(text.slice('whsec_'.length), 'base64');
      expect(parseSecret(text).ok).toBe(written(bytes) === text && bytes.length >= 24 && bytes.length <= 64);
    }),
    { numRuns: 1_000 },
  );
});

test('the refusal says how to make a secret, and repeats nothing of what was given', () => {
  const given = 'whsec_hunter2hunter2';
  const why = whyOf(parseSecret(given));
  expect(why).toContain('openssl rand -base64 32');
  expect(why).not.toContain('hunter2');
});

test('new secrets have 32 bytes, differ, and are read by the receiving side', () => {
  const [one, other] = [newSecret(), newSecret()];
  expect(secretKey(one)).toHaveLength(32);
  expect(one).not.toBe(other);
  expect(() => new Webhook(one)).not.toThrow();
});
