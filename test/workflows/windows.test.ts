import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { ourActionFile } from '../support/runner/action-file.ts';
import { leftOutOnWindows } from '../support/windows.ts';

const cwd = dirname(ourActionFile);
const testsIn = (pattern: string): string[] => globSync(pattern, { cwd }).filter((file) => file.endsWith('.test.ts'));

test.each(Object.entries(leftOutOnWindows))(
  'Windows leaves out %s, which there is, for a reason',
  (pattern, reason) => {
    expect(testsIn(pattern)).not.toEqual([]);
    expect(reason).toMatch(/^[A-Z].*\.$/);
  },
);

test.each(['test/action', 'test/bundle', 'test/client', 'test/e2e', 'test/interface'])(
  'Windows runs most of %s',
  (folder) => {
    const all = testsIn(`${folder}/**`);
    const out = new Set(Object.keys(leftOutOnWindows).flatMap(testsIn));
    expect(all.filter((file) => !out.has(file)).length).toBeGreaterThan(all.length / 2);
  },
);
