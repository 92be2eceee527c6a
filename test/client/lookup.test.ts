import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { listOnPaths, lookupIn } from '../../src/client/lists.ts';
import { knownLock } from '../locks/samples.ts';
import { runs } from '../support/runs.ts';
import { game, lockPath } from './test-client.ts';

const somePath = fc
  .array(fc.constantFrom('a', 'b', 'c', 'aa', 'é'), { minLength: 1, maxLength: 4 })
  .map((names) => lockPath(names.join('/')));

/** A service with these locks. */
function listing(paths: readonly string[]) {
  const asked: (string | undefined)[] = [];
  const client: Pick<Client, 'listLocks'> = {
    async listLocks({ path }) {
      asked.push(path);
      const read = paths.filter((each) => path === undefined || each === path);
      return { items: read.map((each) => knownLock(each)), incomplete: undefined };
    },
  };
  return { client, asked };
}

const within = { deadline: Number.POSITIVE_INFINITY };

test('finds locks among any other locks', async () => {
  const service = fc.record({
    wanted: fc.uniqueArray(somePath, { minLength: 1, maxLength: 30 }),
    there: fc.uniqueArray(somePath, { maxLength: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(service, async ({ wanted, there }) => {
      const { client } = listing(there.toSorted());
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
  ['one path', named(1, () => 'Content/A'), ['Content/A']],
  ['a few paths', named(2, (index) => `${index}/A`), ['0/A', '1/A']],
  ['a repeated path', named(9, () => 'Content/A'), ['Content/A']],
  ['many paths', named(5_000, (index) => `Content/${index}`), [undefined]],
  ['no paths', [], []],
])('looks up %s with few requests', async (_, paths, asked) => {
  const service = listing(paths);
  expect((await listOnPaths(service.client, game, paths, within)).items).toHaveLength(new Set(paths).size);
  expect(service.asked).toEqual(asked);
});

test('finds no locks on paths in another case', async () => {
  const { client } = listing(['Content/A', 'maps/c']);
  const paths = ['content/a', 'maps/c'].map(lockPath);
  const find = await lookupIn(listOnPaths(client, game, paths, within));
  expect(paths.map((path) => find(path).kind)).toEqual(['absent', 'locked']);
});

test('says why the list may be incomplete', async () => {
  const client: Pick<Client, 'listLocks'> = {
    listLocks: async ({ path }) => ({ items: [], incomplete: path === 'b' ? 'There are more.' : undefined }),
  };
  expect(await listOnPaths(client, game, ['a', 'b', 'c'].map(lockPath), within)).toEqual({
    items: [],
    incomplete: 'There are more.',
  });
});
