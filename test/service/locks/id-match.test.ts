import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseIfMatch } from '../../../src/service/locks/id-match.ts';
import { runs } from '../../support/runs.ts';

/**
 * RFC 9110, rule by rule, a character at a time: sections 13.1.1 (`If-Match`), 5.6.1.2 (lists, as a recipient has to take
 * them) and 8.8.3 (entity tags). Whatever surrounds a field value in blanks is not a part of it (section 5.5).
 */
function matchesByTheBook(field: string, id: string): boolean {
  const text = field.replace(/^[ \t]+/, '').replace(/[ \t]+$/, '');
  if (text === '*') return true;
  let at = 0;
  let matched = false;
  let elements = 0;
  const ows = (): void => {
    while (text[at] === ' ' || text[at] === '\t') at += 1;
  };
  const etagc = (character: string): boolean => {
    const code = character.charCodeAt(0);
    return code === 0x21 || (code >= 0x23 && code <= 0x7e) || (code >= 0x80 && code <= 0xff);
  };
  function entityTag(): boolean {
    const weak = text.startsWith('W/', at);
    if (weak) at += 2;
    if (text[at] !== '"') return false;
    const end = text.indexOf('"', at + 1);
    if (end === -1) return false;
    const opaque = text.slice(at + 1, end);
    if (![...opaque].every(etagc)) return false;
    at = end + 1;
    elements += 1;
    matched ||= !weak && opaque === id;
    return true;
  }
  const optionalElement = (): boolean => at === text.length || text[at] === ',' || entityTag();
  if (!optionalElement()) return false;
  while (at < text.length) {
    ows();
    if (text[at] !== ',') return false;
    at += 1;
    ows();
    if (!optionalElement()) return false;
  }
  return matched && elements > 0;
}

const id = 'lock_1';

describe('If-Match', () => {
  test.each([
    '*',
    ' * ',
    '"lock_1"',
    '"other", "lock_1"',
    '"other","lock_1"',
    ',, "lock_1" ,\t,',
    'W/"lock_1", "lock_1"',
    '"a,b" , "lock_1"',
    '"\u00e9", "lock_1"',
  ])('matches the lock: %j', (field) => {
    expect(parseIfMatch(field)(id)).toBe(true);
  });

  test.each([
    '',
    ',',
    'lock_1',
    '"lock_2"',
    'W/"lock_1"',
    'w/"lock_1"',
    'W/ "lock_1"',
    'garbage "lock_1" garbage',
    'garbage "lock_1"',
    '"lock_1" garbage',
    '"lock_1" "lock_1"',
    '"lock_1", garbage',
    '"lock_1", *',
    '*, "lock_1"',
    '"lock_1", "',
    '""lock_1""',
    "'lock_1'",
    '"lock_1";',
    '"lock_1\u0100", "lock_1"',
    '"lock 1", "lock_1"',
    '\u00a0"lock_1"',
  ])('matches nothing: %j', (field) => {
    expect(parseIfMatch(field)(id)).toBe(false);
  });

  test('is read as the standard says, whatever is sent', () => {
    const piece = fc.constantFrom('"', '"a"', '"b"', 'W/', 'w/', ',', ' ', '\t', 'a', '*', '\x7f', '\u00e9', '\u0100');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const field = pieces.join('');
        expect(parseIfMatch(field)('a')).toBe(matchesByTheBook(field, 'a'));
      }),
      { numRuns: runs(1_000, 20_000) },
    );
  });

  test('that is a list names each of its tags that is not weak, however the list is written', () => {
    const opaque = fc.stringMatching(/^[\x21\x23-\x7e\x80-\xff]{0,6}$/);
    const separator = fc.stringMatching(/^[ \t]{0,2},[ \t]{0,2}(,[ \t]?){0,2}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(opaque, fc.boolean(), separator), { minLength: 1 }), (tags) => {
        const match = parseIfMatch(tags.map(([tag, weak, after]) => `${weak ? 'W/' : ''}"${tag}"${after}`).join(''));
        const strong = new Set(tags.flatMap(([tag, weak]) => (weak ? [] : [tag])));
        for (const [tag] of tags) expect(match(tag)).toBe(strong.has(tag));
      }),
    );
  });
});
