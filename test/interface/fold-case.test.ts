import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foldCase } from '../../src/interface/fold-case.ts';
import { maxLockPathBytes } from '../../src/interface/lock-path.ts';
import { runs } from '../support/runs.ts';
import { bytesIn, lockPaths } from './texts.ts';

describe('folding the case of a path', () => {
  test('maps each letter and its other case to the same text, and keeps all other differences', () => {
    // Unicode has no letters with a case beyond its second plane.
    for (let point = 0; point <= 0x1ffff; point += 1) {
      if (point >= 0xd800 && point <= 0xdfff) continue;
      const character = String.fromCodePoint(point);
      const folded = foldCase(character);
      for (const other of [character.toUpperCase(), character.toLowerCase()]) {
        if ([...other].length === 1 && foldCase(other) !== folded) throw new Error(`${character} is not ${other}`);
      }
      if (folded !== character.normalize('NFC') && character.toUpperCase() === character.toLowerCase()) {
        throw new Error(`${character} has no case, and became ${folded}`);
      }
    }
  });

  test.each([
    ['Art/HERO.psd', 'art/hero.PSD'],
    ['ÉTÉ/ÅNGSTRÖM', 'été/ångström'],
    ['ΣΊΣΥΦΟΣ', 'σίσυφος'],
    ['ДОМ', 'дом'],
    ['ᾼ', 'ᾳ'],
    // The capital letter has no composed form, so the small letter has none either.
    ['J\u030c', 'ǰ'],
    ['İ', 'i\u0307'],
  ])('folds %j and %j to the same text', (one, other) => {
    expect(foldCase(one)).toBe(foldCase(other));
  });

  test.each([
    ['straße', 'STRASSE'],
    ['ﬁ', 'fi'],
    ['e', 'é'],
    ['İ', 'i'],
    ['a/b', 'ab'],
    ['Ａ', 'A'],
  ])('keeps %j and %j different', (one, other) => {
    expect(foldCase(one)).not.toBe(foldCase(other));
  });

  test('is idempotent, and fits into an index of PostgreSQL', () => {
    fc.assert(
      fc.property(lockPaths, (path) => {
        const folded = foldCase(path);
        expect(foldCase(folded)).toBe(folded);
        expect(bytesIn(folded)).toBeLessThanOrEqual(2 * bytesIn(path));
      }),
      { numRuns: runs(300, 5_000) },
    );
    // A letter of two bytes whose small letter has three.
    expect(bytesIn(foldCase('Ⱥ'.repeat(maxLockPathBytes / 2)))).toBe(1.5 * maxLockPathBytes);
    expect(bytesIn(foldCase('ΐ'.repeat(maxLockPathBytes / 2)))).toBe(maxLockPathBytes);
  });
});
