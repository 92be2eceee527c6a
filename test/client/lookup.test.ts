import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Client, LockFilter } from '../../src/client/client.ts';
import { commonFolder, listOnPaths, lookupIn, queriesBelow, queriesOn } from '../../src/client/lookup.ts';
import { knownLock } from '../locks/samples.ts';
import { runs } from '../support/runs.ts';
import { game, lockPath } from './test-client.ts';

test.each([
  [['Content/Maps/A.umap', 'Content/MapsOld/B.umap'], 'Content/'],
  [['Content/Maps/A.umap', 'Content/Maps'], 'Content/'],
  [['A'], ''],
  [[], ''],
])('the common folder of %j is %j', (paths, folder) => {
  expect(commonFolder(paths)).toBe(folder);
});

test('the common folder contains all paths, and no longer one does', () => {
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

const somePath = fc
  .array(fc.constantFrom('a', 'b', 'c', 'aa', 'é'), { minLength: 1, maxLength: 4 })
  .map((names) => lockPath(names.join('/')));

describe('the queries for paths', () => {
  const some = (count: number, name: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => lockPath(name(index)));

  test.each([
    ['one path', some(1, () => 'Content/A'), [{ path: 'Content/A' }], 1],
    ['two paths in a folder', some(2, (index) => `Content/${index}`), [{ prefix: 'Content/' }], 1],
    ['50 paths in 50 folders', some(50, (index) => `Content/${index}/A`), [{ prefix: 'Content/' }], 6],
    ['5,000 paths in a folder', some(5_000, (index) => `Content/${index}`), [{ prefix: 'Content/' }], 625],
    ['50 paths without a common folder', some(50, (index) => `${index}/A`), [{}], 6],
    ['two paths without a common folder', some(2, (index) => `${index}/A`), [{ path: '0/A' }, { path: '1/A' }], 1],
    ['a repeated path', some(2, () => 'Content/A'), [{ path: 'Content/A' }], 1],
    ['no paths', [], [], 0],
  ])('use the narrowest filters for %s', (_, paths, filters, maxPages) => {
    const queries = queriesOn(paths);
    expect(queries.map(({ filter }) => filter)).toEqual(filters);
    for (const query of queries) expect(query.maxPages).toBe(maxPages);
  });

  test('cover each path once, and get narrower with each step', () => {
    fc.assert(
      fc.property(fc.uniqueArray(somePath, { maxLength: 40 }), (paths) => {
        let folder = -1;
        for (let queries = queriesOn(paths); queries.length > 0; ) {
          const asked = queries.flatMap((query) => query.paths);
          expect(asked.toSorted()).toEqual([...new Set(asked)].toSorted());
          if (folder === -1) expect(asked.toSorted()).toEqual(paths.toSorted());
          for (const { filter, paths: those } of queries) {
            if (filter.path !== undefined) expect(those).toEqual([filter.path]);
            else expect(those.every((path) => path.startsWith(filter.prefix ?? ''))).toBe(true);
          }
          const [wider] = queries.filter(({ paths: those }) => those.length > 1);
          if (wider === undefined) return;
          if (folder >= 0) expect(wider.folder.length).toBeGreaterThan(folder);
          folder = wider.folder.length;
          queries = queriesBelow(wider.folder, wider.paths);
        }
      }),
      { numRuns: runs(200, 2_000) },
    );
  });
});

/** A service with these locks in pages of this size. It counts the requested pages. */
function listing(paths: readonly string[], pageSize: number, knowsFilters: boolean) {
  const asked: LockFilter[] = [];
  let pages = 0;
  const client: Pick<Client, 'listLocks'> = {
    async listLocks({ filter = {}, maxPages = Number.POSITIVE_INFINITY }) {
      asked.push(filter);
      const isWanted = (path: string): boolean =>
        filter.path === undefined ? path.startsWith(filter.prefix ?? '') : path === filter.path;
      const all = knowsFilters ? paths.filter(isWanted) : paths;
      const needed = Math.max(1, Math.ceil(all.length / pageSize));
      pages += Math.min(needed, maxPages);
      const read = all.slice(0, maxPages * pageSize);
      return {
        items: read.filter(isWanted).map((path) => knownLock(path)),
        incomplete: needed > maxPages ? 'There are more pages.' : undefined,
        isFiltered: read.every(isWanted),
      };
    },
  };
  return { client, asked, pages: () => pages };
}

const within = { deadline: Number.POSITIVE_INFINITY };

test('finds locks among any other locks, with any page size, with filters or without', async () => {
  const service = fc.record({
    wanted: fc.uniqueArray(somePath, { minLength: 1, maxLength: 30 }),
    there: fc.uniqueArray(somePath, { maxLength: 60 }),
    pageSize: fc.integer({ min: 1, max: 12 }),
    knowsFilters: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(service, async ({ wanted, there, pageSize, knowsFilters }) => {
      const { client, asked } = listing(there.toSorted(), pageSize, knowsFilters);
      const { items, incomplete } = await listOnPaths(client, game, wanted, within);
      expect(incomplete).toBeUndefined();
      const expected = there.filter((path) => wanted.includes(path));
      expect(items.map(({ path }) => path).toSorted()).toEqual(expected.toSorted());
      const byName = asked.flatMap(({ path }) => path ?? []);
      // Only a service that returns more than one page for a single path is asked about a path twice.
      if (knowsFilters) expect(new Set(byName).size).toBe(byName.length);
    }),
    { numRuns: runs(300, 3_000) },
  );
});

const numbered = (count: number, folder: string) =>
  Array.from({ length: count }, (_, index) => lockPath(`${folder}${String(index).padStart(6, '0')}`));

test.each([
  ['5,000 paths of a folder without other locks', numbered(5_000, 'a/'), [], 5],
  [
    '50 paths of 50 folders',
    Array.from({ length: 50 }, (_, index) => lockPath(`a/${index}/b`)),
    numbered(900, 'a/x/'),
    1,
  ],
  ['two paths of a folder with 100,000 other locks, after a page', numbered(2, 'a/z'), numbered(100_000, 'a/b'), 3],
  ['50 paths of a folder with 100,000 other locks, after six pages', numbered(50, 'a/z'), numbered(100_000, 'a/b'), 56],
  [
    '100 paths of two folders, one with 100,000 other locks, after twelve pages for both and six for that one',
    [...numbered(50, 'a/y/'), ...numbered(50, 'a/z/z')],
    numbered(100_000, 'a/z/b'),
    12 + 6 + 50,
  ],
])('looks up %s with few pages', async (_, wanted, others, pages) => {
  const service = listing([...wanted, ...others].toSorted(), 1_000, true);
  expect((await listOnPaths(service.client, game, wanted, within)).items).toHaveLength(wanted.length);
  expect(service.pages()).toBe(pages);
});

test.each([
  ['finds locks in another case on a service where case does not matter', true, ['Content/A', 'maps/c']],
  ['finds no locks in another case elsewhere', false, ['maps/c']],
])('%s', async (_, folds, found) => {
  const locks = ['Content/A', 'Content/x', 'maps/c'];
  const same = (one: string, other: string): boolean =>
    folds ? one.toLowerCase() === other.toLowerCase() : one === other;
  const client: Pick<Client, 'listLocks'> = {
    async listLocks({ filter = {} }) {
      const begin = filter.prefix ?? '';
      const isWanted = (path: string): boolean =>
        filter.path === undefined ? same(path.slice(0, begin.length), begin) : same(path, filter.path);
      return { items: locks.filter(isWanted).map((path) => knownLock(path)), incomplete: undefined, isFiltered: true };
    },
  };
  const paths = ['content/a', 'content/b', 'maps/c'].map(lockPath);
  const list = await listOnPaths(client, game, paths, within);
  expect(list.items.map(({ path }) => path).toSorted()).toEqual(found);
  const find = await lookupIn(Promise.resolve(list));
  expect(paths.map((path) => find(path).kind)).toEqual([folds ? 'locked' : 'absent', 'absent', 'locked']);
});

test('reads the list of a service without filters once, not once per path', async () => {
  const wanted = numbered(50, 'a/z');
  const service = listing([...numbered(20_000, 'b/'), ...wanted].toSorted(), 100, false);
  expect((await listOnPaths(service.client, game, wanted, within)).items).toHaveLength(50);
  expect(service.asked).toEqual([{ prefix: 'a/' }, {}]);
});

test('stops at the first failed request, and sends no more', async () => {
  let asked = 0;
  const client: Pick<Client, 'listLocks'> = {
    async listLocks({ filter = {} }) {
      asked += 1;
      if (filter.path !== undefined) throw new Error('The connection was lost.');
      return { items: [], incomplete: 'There are more pages.', isFiltered: true };
    },
  };
  await expect(listOnPaths(client, game, numbered(1_000, 'a/'), within)).rejects.toThrow('The connection was lost.');
  await new Promise(setImmediate);
  expect(asked).toBeLessThanOrEqual(1 + 16);
});
