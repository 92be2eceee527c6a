import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inHtml, oneLine } from '../../../src/action/report/redact.ts';
import { splitLines } from '../../support/runner/lines.ts';
import { parseCommand } from '../../support/runner/workflow-command.ts';
import { hostileText } from './texts.ts';

function linesOf(text: string): readonly string[] {
  const lines: string[] = [];
  const splitter = splitLines((line) => lines.push(line));
  splitter.push(`${text}\n`);
  splitter.end();
  return lines;
}

describe('a text as one line of the log', () => {
  test('is one line for the runner, and no command in it, whatever the text', () => {
    fc.assert(
      fc.property(hostileText, fc.constantFrom('', '  ', '\u3000', 'Warning: '), (text, before) => {
        const line = before + oneLine(text);
        expect(linesOf(line)).toEqual([line]);
        expect(parseCommand(line, () => true)).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  test('is no command behind another text either', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (text, other) => {
        expect(parseCommand(oneLine(text + other), () => true)).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  test('shows what cannot be seen, and leaves the rest as it is', () => {
    expect(oneLine('Content/Hero 1.uasset: held by "ada" & <b> [x](y) ##x a::b')).toBe(
      'Content/Hero 1.uasset: held by "ada" & <b> [x](y) ##x a::b',
    );
    expect(oneLine('a\r\nb\u2028c\u202ed\u001b[2J')).toBe('a\\u{d}\\u{a}b\\u{2028}c\\u{202e}d\\u{1b}[2J');
    expect(oneLine('::error::x')).toBe(': :error::x');
    expect(oneLine(' ::error::x')).toBe(' : :error::x');
    expect(oneLine('a ##[error]x')).toBe('a # #[error]x');
    expect(oneLine('%0A::error::x')).toBe('%0A::error::x');
  });
});

describe('a text in HTML', () => {
  const entities: Readonly<Record<string, string>> = {
    '&amp;': '&',
    '&lt;': '<',
    '&gt;': '>',
    '&quot;': '"',
    '&#39;': "'",
  };
  const shown = (html: string): string =>
    html.replaceAll('<wbr>', '').replaceAll(/&[^;]*;/g, (entity) => entities[entity] ?? '\u0000');

  test('is nothing but text, and is shown as it is', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const html = inHtml(text);
        expect(html.replaceAll('<wbr>', '')).toMatch(/^(?:[^<>&"'\p{Cc}\u2028\u2029]|&(?:amp|lt|gt|quot|#39);)*$/u);
        expect(shown(html)).toBe(oneLine(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test('becomes no mention, no reference and no emoji', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(inHtml(text).replaceAll('&#39;', '')).not.toMatch(/[@#:](?!<wbr>)/);
      }),
      { numRuns: 2_000 },
    );
  });
});
