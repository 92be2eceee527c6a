import { expect, test } from 'vitest';
import type { BranchName } from '../../../src/interface/branch-name.ts';
import { comparedWith, parseBranchPatterns } from '../../../src/service/workspaces/settings.ts';

const main = 'main' as BranchName;

const matches = (patterns: string, branch: string): boolean => {
  const parsed = parseBranchPatterns(patterns);
  if (!parsed.ok) throw new Error(parsed.reason);
  return comparedWith({ latest_branches: parsed.value.join(',') }, main)(branch);
};

test.each([
  ['main', 'main', true],
  ['main', 'mainline', false],
  ['release/*', 'release/1.4', true],
  ['release/*', 'release/1.4/fix', false],
  ['release/*', 'release', false],
  ['*', 'main', true],
  ['*', 'a/b', false],
  ['*-stable', '1-stable', true],
  ['v*x', 'vx', true],
  ['vx*x', 'vx', false],
  ['main, release/*', 'release/2', true],
])('the pattern %s and the branch %s', (patterns, branch, expected) => {
  expect(matches(patterns, branch)).toBe(expected);
});

test('without patterns, only the default branch counts', () => {
  const counts = comparedWith({ latest_branches: null }, main);
  expect([counts('main'), counts('release/1')]).toEqual([true, false]);
  expect(comparedWith({ latest_branches: null }, undefined)('main')).toBe(false);
});

test.each([
  '',
  ',',
  'a,',
  'a b',
  'refs/heads/main',
  'a*b*',
  Array.from({ length: 21 }, (_, index) => `b${index}`).join(','),
])('rejects %s', (text) => {
  expect(parseBranchPatterns(text).ok).toBe(false);
});
