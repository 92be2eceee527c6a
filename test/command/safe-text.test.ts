import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quoted, safeJson } from '../../src/command/print.ts';
import { safeText } from '../../src/interface/safe-text.ts';

/** Characters that move the cursor, color, reorder or hide text: none of them may reach a terminal. */
const harmful = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const character = fc.oneof(
  fc.constantFrom('\u001b', '\u009b', '\u202e', '\u2066', '\u200f', '\u2028', '\n', '\r', '\b', '\u007f', '\u{e0041}'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  fc.constantFrom('a', '名', 'é', '🦊', '\ud800', '\udc00'),
);
const anyText = fc.array(character, { maxLength: 30 }).map((characters) => characters.join(''));

test('untrusted text cannot control a terminal, stays equivalent as JSON, and is escaped only once', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(safeText(text)).not.toMatch(harmful);
      expect(safeText(text).isWellFormed()).toBe(true);
      expect(safeText(safeText(text))).toBe(safeText(text));
      expect(quoted(text)).not.toMatch(harmful);
      const json = safeJson(JSON.stringify({ text }));
      expect(JSON.parse(json)).toEqual({ text });
      expect(json).not.toMatch(harmful);
    }),
  );
  expect(safeText('Content/Übersee/ヒーロー 🦊.uasset')).toBe('Content/Übersee/ヒーロー 🦊.uasset');
  expect(safeText('\u001b[31mred\u202e')).toBe('\\u{1b}[31mred\\u{202e}');
});

test.each([
  'https://user:s3cret@host/path',
  'https://s3cret@host/path',
  `wsa_${'s3cret'.repeat(7)}a`,
  'whsec_s3cret+/=',
  'postgres://user:s3cret@host/db',
])('%s is quoted without its secret', (text) => {
  expect(quoted(text)).not.toContain('s3cret');
});

test('a long text is quoted only in part', () => {
  expect(quoted('x'.repeat(5_000)).length).toBeLessThan(200);
});
