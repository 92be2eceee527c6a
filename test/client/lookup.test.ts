import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { type LockFilter, listOnPaths, lookupIn } from '../../src/client/lists.ts';
import { knownLock } from '../locks/samples.ts';
import { runs } from '../support/runs.ts';
import { game, lockPath } from './test-client.ts';

const somePath = fc
  .array(fc.constantFrom('a', 'b', 'c', 'aa', 'é'), { minLength: 1, maxLength: 4 })
  .map((names) => lockPath(names.join('/')));

/** A service with these locks, which may support filters. */
function listing(paths: readonly string[], knowsFilters: boolean) {
  const asked: LockFilter[] = [];
  const client: Pick<Client, 'listLocks'> = {
    async listLocks({ filter = {} }) {
      asked.push(filter);
      const isWanted = (path: string): boolean =>
        filter.path === undefined ? path.startsWith(filter.prefix ?? '') : path === filter.path;
      const read = knowsFilters ? paths.filter(isWanted) : paths;
      return { items: read.filter(isWanted).map((path) => knownLock(path)), incomplete: undefined };
    },
  };
  return { client, asked };
}

const within = { deadline: Number.POSITIVE_INFINITY };

test('finds locks among any other locks, with filters or without', async () => {
  const service = fc.record({
    wanted: fc.uniqueArray(somePath, { minLength: 1, maxLength: 30 }),
    there: fc.uniqueArray(somePath, { maxLength: 60 }),
    knowsFilters: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(service, async ({ wanted, there, knowsFilters }) => {
      const { client } = listing(there.toSorted(), knowsFilters);
      const { items, incomplete } = await listOnPaths(client, game, wanted, within);
      expect(incomplete).toBeUndefined();
      const expected = there.filter((path) => wanted.includes(path));
      expect(items.map(({ path }) => path).toSorted()).toEqual(expected.toSorted());
    }),
    { numRuns: runs(300, 3_000) },
  );
});

const named = (count: number, name: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => lockPath(name(index)));

test.each([
  ['one path', named(1, () => 'Content/A'), [{ path: 'Content/A' }]],
  ['a few paths', named(2, (index) => `${index}/A`), [{ path: '0/A' }, { path: '1/A' }]],
  ['a repeated path', named(9, () => 'Content/A'), [{ path: 'Content/A' }]],
  ['many paths', named(5_000, (index) => `Content/${index}`), [{}]],
  ['no paths', [], []],
])('looks up %s with few requests', async (_, paths, filters) => {
  const service = listing(paths, true);
  expect((await listOnPaths(service.client, game, paths, within)).items).toHaveLength(new Set(paths).size);
  expect(service.asked).toEqual(filters);
});

test('finds no locks on paths in another case', async () => {
  const { client } = listing(['Content/A', 'maps/c'], false);
  const paths = ['content/a', 'maps/c'].map(lockPath);
  const find = await lookupIn(listOnPaths(client, game, paths, within));
  expect(paths.map((path) => find(path).kind)).toEqual(['absent', 'locked']);
});

test('says why the list may be incomplete', async () => {
  const client: Pick<Client, 'listLocks'> = {
    listLocks: async ({ filter }) => ({ items: [], incomplete: filter?.path === 'b' ? 'There are more.' : undefined }),
  };
  expect(await listOnPaths(client, game, ['a', 'b', 'c'].map(lockPath), within)).toEqual({
    items: [],
    incomplete: 'There are more.',
  });
});
