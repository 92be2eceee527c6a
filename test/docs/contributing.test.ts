import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ourActionFile } from '../support/runner/action-file.ts';

const root = dirname(ourActionFile);
const contributing = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');

const rows = [...contributing.matchAll(/^\| `(src[^`]*)` \| (.*) \|$/gm)].map(([, folder = '', what = '']) => ({
  folder,
  what,
}));

test('the map has a sentence for each folder of src/, and no other folders', () => {
  const folders = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  expect(rows.map(({ folder }) => folder).toSorted()).toEqual(folders.toSorted());
  for (const { folder, what } of rows) expect(what, folder).toMatch(/^[A-Z].*\.$/);
});
