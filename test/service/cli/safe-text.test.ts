import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quoted, safeJson } from '../../../src/service/cli/output/print.ts';
import { table } from '../../../src/service/cli/output/table.ts';
import { safeText } from '../../../src/service/dashboard/assets/text.js';

/** Whatever moves a cursor, colours, reorders or hides: none of it may reach a terminal. */
const harmful = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const character = fc.oneof(
  fc.constantFrom('\u001b', '\u009b', '\u202e', '\u2066', '\u200f', '\u2028', '\n', '\r', '\b', '\u007f', '\u{e0041}'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  fc.constantFrom('a', '名', 'é', '🦊', '\ud800', '\udc00'),
);
const anyText = fc.array(character, { maxLength: 30 }).map((characters) => characters.join(''));

describe('text from elsewhere', () => {
  test('never does anything to a terminal', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(safeText(text)).not.toMatch(harmful);
        expect(safeText(text).isWellFormed()).toBe(true);
        expect(quoted(text)).not.toMatch(harmful);
      }),
    );
  });

  test('stays as it is where it is harmless, and is escaped once', () => {
    fc.assert(fc.property(anyText, (text) => safeText(safeText(text)) === safeText(text)));
    expect(safeText('Content/Übersee/ヒーロー 🦊.uasset')).toBe('Content/Übersee/ヒーロー 🦊.uasset');
    expect(safeText('\u001b[31mred\u202e')).toBe('\\u{1b}[31mred\\u{202e}');
  });

  test('means the same as JSON, and does nothing to a terminal there either', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const json = safeJson(JSON.stringify({ text }));
        expect(JSON.parse(json)).toEqual({ text });
        expect(json).not.toMatch(harmful);
      }),
    );
  });

  test.each([
    ['https://user:s3cret@host/path', 's3cret'],
    ['https://s3cret@host/path', 's3cret'],
    [`wsa_${'s3cret'.repeat(7)}a`, 's3cret'],
    ['whsec_s3cret+/=', 's3cret'],
    ['postgres://user:s3cret@host/db', 's3cret'],
  ])('is quoted without the secret that %s holds', (text, secret) => {
    expect(quoted(text)).not.toContain(secret);
  });

  test('is quoted in part when it is long', () => {
    expect(quoted('x'.repeat(5_000)).length).toBeLessThan(200);
  });
});

describe('a table', () => {
  test('keeps its columns aligned, whatever is in them', () => {
    const rows = [
      ['名前.uasset', 'ada', 'first'],
      ['e\u0301.uasset', 'a\u001b[2Jb', 'second'],
      ['', 'x', 'third'],
    ];
    expect(table(['PATH', 'OWNER', 'NOTE'], rows)).toEqual([
      'PATH         OWNER        NOTE',
      '名前.uasset  ada          first',
      'e\u0301.uasset     a\\u{1b}[2Jb  second',
      '-            x            third',
    ]);
  });

  test('does not break a long row', () => {
    const long = 'x'.repeat(3_000);
    expect(table(['A', 'B'], [[long, 'end']])).toHaveLength(2);
    expect(table(['A', 'B'], [[`${long}\n${long}`, 'end']])).toHaveLength(2);
  });
});
