import fc from 'fast-check';
import { type LockPath, parseLockPath } from '../../src/interface/lock-path.ts';

/** Any string of UTF-16 code units, including unpaired surrogates. */
export const codeUnits: fc.Arbitrary<string> = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
  .map((units) => String.fromCharCode(...units));

const awkward = [
  ...'. .. ... % %2e %2E%2e %2F %5c %00 %25 + ? # : ; @ & = " ~ * [ ] { | ^ ` C: http:'.split(' '),
  ...["'", ' ', '\ufeff', '\u200b', '\u2028', '\u202e', '🗝'],
  // A character that NFC composes, its two parts, and a character that NFC decomposes.
  ...['é', 'e\u0301', '\u0301', '\u0958'],
  // Characters that resemble, or are compatible with, characters with a meaning in paths.
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

/** Mostly valid paths, full of characters with a meaning in URLs. */
export const pathLike: fc.Arbitrary<string> = fc
  .array(name, { minLength: 1, maxLength: 5 })
  .map((names) => names.join('/'));

/** Mostly invalid paths: the same, mixed with slashes, dots, backslashes and control characters. */
export const pathMess: fc.Arbitrary<string> = fc
  .array(fc.oneof(name, fc.constantFrom('/', '/', '//', '\\', './', '../', '.\\'), fc.constantFrom(...forbidden)), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''));

export const anyText: fc.Arbitrary<string> = fc.oneof(pathLike, pathMess, codeUnits);

/** Valid lock paths, parsed from the generated texts. */
export const lockPaths: fc.Arbitrary<LockPath> = pathLike
  .map(parseLockPath)
  .filter((parsed) => parsed.ok)
  .map((parsed) => parsed.value);

export const bytesIn = (text: string): number => new TextEncoder().encode(text).length;
