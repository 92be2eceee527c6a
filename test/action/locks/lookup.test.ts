import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commonFolder } from '../../../src/action/locks/lookup.ts';

test.each([
  [['Content/Maps/A.umap', 'Content/MapsOld/B.umap'], 'Content/'],
  [['Content/Maps/A.umap', 'Content/Maps'], 'Content/'],
  [['A'], ''],
  [[], ''],
])('the folder that %j have in common is %j', (paths, folder) => {
  expect(commonFolder(paths)).toBe(folder);
});

test('the common folder is that of each path, and none is longer', () => {
  const path = fc
    .array(fc.constantFrom('a', 'b', 'é', '𝄞'), { minLength: 1, maxLength: 5 })
    .map((all) => all.join('/'));
  fc.assert(
    fc.property(fc.array(path, { minLength: 1, maxLength: 5 }), (paths) => {
      const folder = commonFolder(paths);
      expect(paths.every((each) => each.startsWith(folder))).toBe(true);
      expect(folder === '' || folder.endsWith('/')).toBe(true);
      const next = paths.map((each) => each.slice(folder.length).split('/'));
      const [[first] = []] = next;
      expect(next.every((segments) => segments.length > 1 && segments[0] === first)).toBe(false);
    }),
  );
});
