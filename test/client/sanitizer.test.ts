import { expect, test } from 'vitest';
import { createSanitizer, plainName } from '../../src/client/sanitizer.ts';

const secret = 'wsa_c3VwZXIvc2VjcmV0K3Rva2Vu/with&signs';
const sanitizer = createSanitizer([secret]);

test.each([
  ['in plain form', secret],
  ['in a URL', encodeURIComponent(secret)],
  ['in JSON', JSON.stringify({ secret })],
  ['in Base64', Buffer.from(`ada:${secret}`).toString('base64')],
  ['in HTML', secret.replaceAll('&', '&amp;')],
  ['in hexadecimal digits', Buffer.from(secret).toString('hex')],
])('a secret %s is hidden before a text is truncated, so that no part of it remains', (_, text) => {
  const beginning = text.slice(text.length / 2 - 6, text.length / 2 + 6);
  for (let most = 1; most <= text.length + 40; most += 1) {
    expect(sanitizer.line(`The service said: ${text} and more`, most)).not.toContain(beginning);
  }
});

test.each([
  ['a text', ' ', (text: string) => sanitizer.line(text, 200)],
  ['a page', '<br>', (text: string) => sanitizer.line(`<html>${text}`, 200)],
])('a secret across the size limit of %s is not shown in part', (_, filling, shown) => {
  for (let before = 4_000; before < 4_100; before += 1) {
    for (const blanks of ['', ' ', '  ', '   ']) {
      expect(shown(`${filling.repeat(before * (4 / filling.length))}${blanks}${secret}${secret}`)).not.toContain(
        'wsa_c3',
      );
    }
  }
});

test('a long name is truncated before normalization, and an unreasonable number of marks is left unchanged', () => {
  expect(plainName('cafe\u0301')).toBe('café');
  const marks = '\u0345'.repeat(2_000_000) + '\u0327'.repeat(2_000_000);
  expect(plainName(`a${marks}`)).toBe(`a${'\u0345'.repeat(4_094)}…`);
  const thirty = `a${'\u0327'.repeat(15)}${'\u0345'.repeat(15)}`;
  expect(plainName(thirty.normalize('NFD'))).toBe(thirty.normalize('NFC'));
});
