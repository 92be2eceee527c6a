import fc from 'fast-check';
import { type LockPath, parseLockPath } from '../../src/interface/lock-path.ts';

/** Any string of UTF-16 code units: half surrogate pairs too. */
export const codeUnits: fc.Arbitrary<string> = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
  .map((units) => String.fromCharCode(...units));

const awkward = [
  ...'. .. ... % %2e %2E%2e %2F %5c %00 %25 + ? # : ; @ & = " ~ * [ ] { | ^ ` C: http:'.split(' '),
  ...["'", ' ', '\ufeff', '\u200b', '\u2028', '\u202e', '🗝'],
  // One character that NFC composes, its two halves, and one that NFC takes apart again.
  ...['é', 'e\u0301', '\u0301', '\u0958'],
  // Characters that look like, or are compatible with, the ones that have a meaning in a path.
  ...['／', '＼', '．', '‥', '\u2215', '\u0338', '\u212a'],
];

const forbidden = ['\\', '\0', '\n', '\x1f', '\x7f', '\x85', '\ud83d', '\udddd'];

const name = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...awkward) },
      { weight: 2, arbitrary: fc.string({ minLength: 1, maxLength: 6 }) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }) },
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((parts) => parts.join(''));

/** Mostly what is accepted as a path, full of what a URL could take for something else. */
export const pathLike: fc.Arbitrary<string> = fc
  .array(name, { minLength: 1, maxLength: 5 })
  .map((names) => names.join('/'));

/** Mostly what is refused: the same, with slashes, dots, backslashes and control characters strewn in. */
export const pathMess: fc.Arbitrary<string> = fc
  .array(fc.oneof(name, fc.constantFrom('/', '/', '//', '\\', './', '../', '.\\'), fc.constantFrom(...forbidden)), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''));

export const anyText: fc.Arbitrary<string> = fc.oneof(pathLike, pathMess, codeUnits);

/** Every path that one of the generated texts is accepted as. */
export const lockPaths: fc.Arbitrary<LockPath> = pathLike
  .map(parseLockPath)
  .filter((parsed) => parsed.ok)
  .map((parsed) => parsed.value);

export const bytesIn = (text: string): number => new TextEncoder().encode(text).length;
