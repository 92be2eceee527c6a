import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { slowPatternReason } from '../../src/action/paths/pattern-cost.ts';

test.each([
  'Content/**/*.uasset',
  '**/*_*_*.png',
  '**/a/**/b/**/c/*.umap',
  'Content/{Maps,Props}/*.{umap,uasset}',
  'frame{001..240}.exr',
  'Rock*(1).fbx',
  '!(Draft)*.psd',
])('a pattern that is quick on every name is taken: %j', (pattern) => {
  expect(slowPatternReason(pattern)).toBeUndefined();
});

test.each([
  ['Content/*a*a*a*ab', 'at most 3 asterisks'],
  ['****', 'at most 3 asterisks'],
  ['{1..100000}', 'at most 256 alternatives'],
  ['{1..99}{1..99}', 'at most 256 alternatives'],
  ['{a,b}'.repeat(20), 'at most 256 alternatives'],
  ['{a,{b,{c,d}}}'.repeat(9), 'at most 256 alternatives'],
  ['+(a|aa)b', 'must not have alternatives'],
  ['*(a*)b', 'must not have alternatives'],
  [`${'a'.repeat(1_024)}*`, 'at most 1024 characters'],
])('a pattern that could take for ever is refused: %j', (pattern, reason) => {
  expect(slowPatternReason(pattern)).toContain(reason);
});

test('what is taken is quick on the names that fit it least', () => {
  const name = 'a'.repeat(255);
  for (const pattern of ['*a*a*ab', '[a]*[a]*[a]*b', '?*a?*a?*ab', '+(a)+(a)b', '{a,b}*{a,b}*{a,b}*b']) {
    expect(slowPatternReason(pattern)).toBeUndefined();
    // CPU time of this thread, so that a busy machine does not count.
    const before = process.threadCpuUsage();
    expect(posix.matchesGlob(name, pattern)).toBe(false);
    expect(process.threadCpuUsage(before).user / 1_000, pattern).toBeLessThan(2_000);
  }
});
