import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foldCase } from '../../../src/interface/fold-case.ts';
import { type LockPath, maxLockPathBytes, parseLockPath } from '../../../src/interface/lock-path.ts';
import { windowsPathProblem } from '../../../src/service/locks/locks.ts';
import { bytesIn, lockPaths } from '../../interface/texts.ts';
import { runs } from '../../support/runs.ts';
import { valueIn } from '../../support/value-in.ts';

const reason = {
  character:
    'A path must not have any of the characters < > : " | ? * on Windows, where a colon names a drive or a part of another file.',
  end: 'A path must not have a segment that ends in a dot or a space: Windows drops both, so that it would be the path of another file.',
  device:
    'A path must not have a segment that is the name of a device on Windows, such as CON, NUL, COM1 or LPT1, with or without an extension.',
} as const;

const lockPath = (text: string): LockPath => valueIn(parseLockPath(text));

describe('a path on Windows', () => {
  test.each([
    [reason.end, ['a.', 'a ', 'a. .', 'a./b', 'b/a /c', '...', ' ']],
    [reason.character, ['a:x', 'C:/a', 'a/b:c:$DATA', 'a<b', 'a>b', 'a"b', 'a|b', 'a?', '*/a']],
    [reason.device, ['con', 'PRN', 'Aux', 'nUl', 'COM0', 'com9', 'LPT0', 'COM¹', 'com²', 'Lpt³', 'CONIN$', 'conout$']],
    [reason.device, ['nul.txt', 'NUL.tar.gz', 'nul .txt', 'nul  .x', 'a/con/b', 'aux.d/b', 'CONIN$.x']],
  ])('is rejected with a reason: %s', (reason, paths) => {
    for (const path of paths) expect(windowsPathProblem(lockPath(path)), path).toBe(reason);
  });

  test('is accepted even if it is unusual', () => {
    const files = ['.gitignore', ' a', 'a b/c.d', 'a..b', '~$hero.pptx', 'シーン/主人公.blend'];
    const almostDevices = ['console', 'null.txt', 'nul_', 'nul x.txt', 'COM10', 'com', 'COM⁴', 'a.nul', 'CONIN'];
    for (const path of [...files, ...almostDevices]) expect(windowsPathProblem(lockPath(path)), path).toBeUndefined();
  });

  test('is rejected for any bad segment, in any case, without quoting it', () => {
    const reasons: readonly (string | undefined)[] = [undefined, ...Object.values(reason)];
    fc.assert(
      fc.property(lockPaths, (path) => {
        const reason = windowsPathProblem(path);
        expect(reasons).toContain(reason);
        const whole = path.split('/').map((segment) => windowsPathProblem(lockPath(segment)));
        expect(whole.every((each) => each === undefined)).toBe(reason === undefined);
        for (const other of [path.toUpperCase(), path.toLowerCase()].map(parseLockPath)) {
          if (other.ok) expect(windowsPathProblem(other.value)).toBe(reason);
        }
      }),
      { numRuns: runs(300, 5_000) },
    );
  });
});

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
    expect(bytesIn(foldCase(lockPath('Ⱥ'.repeat(maxLockPathBytes / 2))))).toBe(1.5 * maxLockPathBytes);
    expect(bytesIn(foldCase(lockPath('ΐ'.repeat(maxLockPathBytes / 2))))).toBe(maxLockPathBytes);
  });
});
