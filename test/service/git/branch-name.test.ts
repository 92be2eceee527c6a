import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxBranchNameLength, parseBranchName } from '../../../src/interface/branch-name.ts';

/** Checks many names with the real git in a single shell, which is faster than one process for each. */
function acceptedByGit(names: readonly string[]): readonly boolean[] {
  const script =
    'for name; do git check-ref-format "refs/heads/$name" && git check-ref-format --branch "$name" >/dev/null 2>&1 && echo yes || echo no; done';
  const response = execFileSync('sh', ['-c', script, 'sh', ...names], { encoding: 'utf8' });
  return response
    .trim()
    .split('\n')
    .map((line) => line === 'yes');
}

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'feature', 'HEAD', 'ö', '水', '1.0', 'lock', 'refs', '\u0085') },
  { weight: 2, arbitrary: fc.constantFrom('/', '.', '-', '@', '{', '.lock') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('~', '^', ':', '?', '*', '[', '\\', ' ', '\t', '\u007f', '\u0001', '@{', '..'),
  },
);
const name = fc
  .array(piece, { minLength: 1, maxLength: 6 })
  .map((pieces) => pieces.join(''))
  .filter((text) => text !== '@' && !text.startsWith('refs/') && !text.startsWith('@{'));

describe('the name of a branch', () => {
  test('is accepted exactly if git accepts it', () => {
    const names = fc.array(name, { minLength: 200, maxLength: 200 });
    fc.assert(
      fc.property(names, (some) => {
        const byGit = acceptedByGit(some);
        expect(some.filter((text, index) => parseBranchName(text).ok !== byGit[index])).toEqual([]);
      }),
      { numRuns: 1, endOnFailure: true },
    );
  });

  test.each([
    ['', 'empty'],
    ['-x', 'start with -'],
    ['refs/heads/main', 'short name'],
    ['HEAD', 'not names of branches'],
    ['a\0b', 'control'],
    ['\ud800', 'Unicode'],
    ['@{-1}', '@{'],
    ['a/.b', 'start with a dot'],
  ])('%j is rejected with the reason', (text, reason) => {
    expect(parseBranchName(text)).toMatchObject({ ok: false, reason: expect.stringContaining(reason) });
  });

  test('is limited in bytes, not in characters', () => {
    expect(parseBranchName('ö'.repeat(127)).ok).toBe(true);
    expect(parseBranchName('ö'.repeat(128))).toMatchObject({
      ok: false,
      reason: expect.stringContaining(`${maxBranchNameLength}`),
    });
  });
});
