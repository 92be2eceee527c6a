import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../src/interface/redact.ts';
import { hostileText } from '../action/report/texts.ts';

// Without an asterisk, since a replacement could complete another secret.
const character = fc.constantFrom(...'abzAZ019-_.~+/=!"\'()&<>:;@#%? ,\\{}[]|^$é\u4e2d\u{1f600}');
const secret = fc.string({ unit: character, minLength: 8, maxLength: 40 }).filter((text) => text.trim() === text);

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const lowerHex = (text: string): string => text.replaceAll(/%[0-9A-F]{2}/g, (digits) => digits.toLowerCase());

/** Encodings in which a service, or a gateway in front of it, may repeat a text. */
const spellings: Readonly<Record<string, (text: string) => string>> = {
  'in plain form': (text) => text,
  'in a URL': encodeURIComponent,
  'in a URL, in lower case': (text) => lowerHex(encodeURIComponent(text)),
  'in a form': (text) => new URLSearchParams({ '': text }).toString().slice(1),
  'in JSON': (text) => JSON.stringify(text).slice(1, -1),
  'in JSON as written by PHP': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  'in Base64': base64,
  'in Base64 for URLs': (text) => Buffer.from(text).toString('base64url'),
  'in hexadecimal digits': (text) => Buffer.from(text).toString('hex'),
  'in ISO 8859-1 that was read as UTF-8': (text) => Buffer.from(text, 'latin1').toString(),
  'in HTML': (text) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
};

describe.each(Object.entries(spellings))('a secret %s', (_, spell) => {
  test('is removed wherever it occurs', () => {
    fc.assert(
      fc.property(secret, hostileText, hostileText, (text, before, after) => {
        const spelled = spell(text);
        expect(createRedactor([text])(before + spelled + after)).not.toContain(spelled);
      }),
    );
  });
});

test('no bytes of a secret can be decoded from Base64, whatever it was encoded together with', () => {
  fc.assert(
    fc.property(secret, fc.string({ maxLength: 7 }), fc.string({ maxLength: 7 }), (text, before, after) => {
      const redacted = createRedactor([text])(base64(before + text + after));
      expect(redacted).toContain('***');
      // Up to two characters on either side encode adjacent bytes as well.
      const left = Buffer.from(redacted.replace('***', ''), 'base64').length;
      expect(left).toBeLessThanOrEqual(Buffer.byteLength(before + after) + 3);
    }),
  );
});

test('removes each line of a secret with several lines', () => {
  const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\r\n  hkiG9w0BAQEFAASC\n-----END KEY-----\n';
  const redact = createRedactor([key]);
  expect(redact('x MIIEvQIBADANBgkq y')).toBe('x *** y');
  expect(redact('hkiG9w0BAQEFAASC')).toBe('***');
  expect(redact(key)).toBe('***');
});

test('removes a secret of 60,000 characters like any other, and a short one next to it', () => {
  const long = 'abcdefghij'.repeat(6_000);
  const redact = createRedactor(['geheim', long]);
  expect(redact(`x ${long} y ${Buffer.from(long).toString('hex')} z geheim`)).toBe('x *** y *** z ***');
});

test('removes many secrets, and the longer one of two with the same prefix completely', () => {
  const many = Array.from({ length: 600 }, (_, number) => `${'geheim'.repeat(10)}${number}`);
  expect(createRedactor(many)(many.join(' '))).toBe(many.map(() => '***').join(' '));
});

test('leaves a text without secrets unchanged', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      expect(createRedactor([])(text)).toBe(text);
      expect(createRedactor(['x'.repeat(60)])(text)).toBe(text);
    }),
  );
});

test('accepts a secret with an unpaired surrogate', () => {
  expect(createRedactor(['abc\ud800defg'])('abc\ud800defg x')).toBe('*** x');
});

test('removes a secret of four characters from Base64 if it stands alone', () => {
  expect(createRedactor(['abcd'])(`key: ${base64('abcd')}`)).toBe('key: ***');
});
