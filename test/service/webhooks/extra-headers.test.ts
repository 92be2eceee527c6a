import { validateHeaderName, validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseExtraHeaders } from '../../../src/service/webhooks/extra-headers.ts';
import { valueIn } from '../../support/value-in.ts';
import { whyOf } from './samples.ts';

test('ordinary headers are kept, with lower-case names', () => {
  expect(valueIn(parseExtraHeaders({ Authorization: 'Bearer abc', 'X-Team': 'Kunst für alle' }))).toEqual({
    authorization: 'Bearer abc',
    'x-team': 'Kunst für alle',
  });
  expect(valueIn(parseExtraHeaders({}))).toEqual({});
});

const anyName = fc.oneof(
  { weight: 5, arbitrary: fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/) },
  { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 3 }) },
);
const latin1 = fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code));
const anyValue = fc.oneof(
  { weight: 5, arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: 1 }) },
  { weight: 1, arbitrary: fc.string({ unit: latin1, minLength: 1, maxLength: 4 }) },
);

test('accepted headers can be sent, and parsing them again changes nothing', () => {
  fc.assert(
    fc.property(fc.dictionary(anyName, anyValue, { minKeys: 1, maxKeys: 3 }), (given) => {
      const parsed = parseExtraHeaders(given);
      fc.pre(parsed.ok);
      for (const [name, value] of Object.entries(parsed.value)) {
        validateHeaderName(name);
        validateHeaderValue(name, value);
      }
      expect(parseExtraHeaders(parsed.value)).toEqual(parsed);
    }),
  );
});

test.each([
  ...['Host', 'Content-Length', 'content-type', 'Transfer-Encoding', 'Connection', 'Keep-Alive', 'TE', 'Trailer'],
  ...['Upgrade', 'Expect', 'Proxy-Authorization', 'Webhook-Signature', 'webhook-anything'],
  // Programs would lose this property.
  ...['__proto__', '__PROTO__'],
])('the header %s is rejected', (name) => {
  expect(whyOf(parseExtraHeaders(JSON.parse(`{"${name}":"x"}`)))).toContain(name.toLowerCase());
});

test.each([
  ['is empty', ''],
  ['has a line break', 's3cret\r\nx-other: y'],
  ['has a tab', 's3cret\t'],
  ['has a NUL', 's3cret\0'],
  ['has a DEL', 's3cret\x7f'],
  ['is outside ISO 8859-1', 's3cret✓'],
  ['has an empty secret', 'Bearer '],
])('a value that %s is rejected, with an error that has only its name', (_, value) => {
  const reason = whyOf(parseExtraHeaders({ 'X-Key': value }));
  expect(reason).toContain('x-key');
  expect(reason).not.toContain('s3cret');
});

test('rejects values above 4,096 bytes, and duplicates', () => {
  expect([4_096, 4_097].map((bytes) => parseExtraHeaders({ a: 'x'.repeat(bytes) }).ok)).toEqual([true, false]);
  expect(whyOf(parseExtraHeaders({ 'X-Key': 'a', 'x-key': 'b' }))).toContain('twice');
});
