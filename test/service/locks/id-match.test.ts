import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseIfMatch } from '../../../src/service/locks/change-lock.ts';

/** RFC 9110, sections 13.1.1 (`If-Match`), 5.6.1.2 (lists, as recipients must parse them) and 8.8.3 (entity tags). */
const id = 'lock_1';

describe('If-Match', () => {
  test.each(['*', ' * ', ',, "lock_1" ,\t,'])('matches the lock: %j', (field) => {
    expect(parseIfMatch(field)(id)).toBe(true);
  });

  test.each([
    '',
    ',',
    'lock_1',
    '"lock_2"',
    'W/"lock_1"',
    'w/"other", "lock_1"',
    'garbage "lock_1"',
    '"lock_1" garbage',
    '"lock_1", garbage',
    '*, "lock_1"',
    '"lock_1", "',
    '""lock_1""',
    '"lock_1\u0100", "lock_1"',
    '"lock 1", "lock_1"',
  ])('matches nothing: %j', (field) => {
    expect(parseIfMatch(field)(id)).toBe(false);
  });

  test('matches each strong tag of a list, however the list is written', () => {
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
