import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ourActionFile } from '../support/runner/action-file.ts';

const changelog = readFileSync(join(dirname(ourActionFile), 'CHANGELOG.md'), 'utf8');

test('the changelog has only the sections that a release looks for', () => {
  const sections = [...changelog.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
  expect(sections[0]).toBe('[Unreleased]');
  for (const title of sections.slice(1)) expect(title).toMatch(/^\[\d+\.\d+\.\d+(-[\w.-]+)?\] - \d{4}-\d{2}-\d{2}$/);
  const kinds = [...changelog.matchAll(/^### (.*)$/gm)].map(([, kind]) => kind);
  expect(kinds.filter((kind) => !/^(Added|Changed|Deprecated|Removed|Fixed|Security)$/.test(kind ?? ''))).toEqual([]);
});
