import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutSecrets } from '../../../src/service/webhooks/without-secrets.ts';
import { runs } from '../../support/runs.ts';

// The characters that a header value may have, with those in front that spellings and patterns treat specially.
const character = fc.oneof(
  fc.constantFrom(...'/+.*$\\"\'&<>=%?()[]{}|^- é'),
  fc.integer({ min: 0x30, max: 0x7a }).map((code) => String.fromCodePoint(code)),
);
const secret = fc.string({ unit: character, minLength: 4, maxLength: 40 }).filter((text) => !text.includes('*'));

const spell: Readonly<Record<string, (secret: string) => string>> = {
  plain: (text) => text,
  json: (text) => JSON.stringify(text).slice(1, -1),
  address: encodeURIComponent,
  base64: (text) => Buffer.from(text).toString('base64'),
  latin1: (text) => new TextDecoder().decode(Buffer.from(text, 'latin1')),
};

const pieces = (secrets: readonly string[]) =>
  fc.array(
    fc.oneof(
      fc.record({ spelled: fc.constantFrom(...Object.keys(spell)), secret: fc.constantFrom(...secrets) }),
      fc.string({ unit: character, maxLength: 10 }),
    ),
    { maxLength: 20 },
  );

const textOf = (parts: readonly (string | { spelled: string; secret: string })[]): string =>
  parts.map((part) => (typeof part === 'string' ? part : (spell[part.spelled]?.(part.secret) ?? ''))).join('');

const secretsAndParts = fc
  .array(secret, { minLength: 1, maxLength: 4 })
  .chain((secrets) => fc.tuple(fc.constant(secrets), pieces(secrets)));

test('no secret is left, however a receiver spells it and whatever it puts around it', () => {
  fc.assert(
    fc.property(secretsAndParts, ([secrets, parts]) => {
      const shown = withoutSecrets(textOf(parts), secrets, false);
      for (const each of secrets) {
        for (const spelled of Object.values(spell)) expect(shown).not.toContain(spelled(each));
      }
    }),
    { numRuns: runs(300, 10_000) },
  );
});

test('where the text is cut off, the secret that it ends in is gone as far as it goes', () => {
  fc.assert(
    fc.property(secret, fc.nat(39), fc.constantFrom(...Object.keys(spell)), (each, length, spelled) => {
      const whole = spell[spelled]?.(each) ?? '';
      const begun = whole.slice(0, Math.min(length, whole.length - 1));
      const shown = withoutSecrets(`the end: \n${begun}`, [each], true);
      // A spelling can have the secret itself in it: then it is one that is whole, with a little of the spelling around it.
      if (begun.includes(each)) expect(shown.replaceAll('***', '\n')).not.toContain(each);
      else expect(shown).toBe('the end: \n');
    }),
    { numRuns: runs(300, 10_000), examples: [['\\000\\', 6, 'json']] },
  );
});

test('of a secret that begins like another nothing is left', () => {
  expect(withoutSecrets('key: abcd-efgh', ['abcd', 'abcd-efgh'], false)).toBe('key: ***');
});

test('text without a secret stays as it is', () => {
  const text = 'a $& (b) [c] *** \n {"ok": true}';
  expect(withoutSecrets(text, ['s3cret', 'Bearer s3cret'], false)).toBe(text);
  expect(withoutSecrets(text, [], true)).toBe(text);
});

test('values that are too short to be secrets are not looked for', () => {
  expect(withoutSecrets('it is true that 1 is odd', ['1', 'is', 'odd'], true)).toBe('it is true that 1 is odd');
});
