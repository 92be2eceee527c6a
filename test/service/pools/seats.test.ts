import { expect, test } from 'vitest';
import { seatsOf } from '../../../src/service/pools/pools.ts';
import { sqlite } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { storeLocks } from '../../support/stored-rows.ts';
import { bearerOf } from '../locks/taken-locks.ts';

const shared = sharedStorage(sqlite, { workspaces: ['game'] });

test('many large pools are read in slices, so that other requests do not wait', async () => {
  let most = 0;
  const read = shared.read.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      most = Math.max(most, result.rows.length);
      return result;
    },
  });
  const storage = { ...shared, read };
  const pools = ['a', 'b', 'c'].map((name) => ({
    name,
    items: Array.from({ length: 800 }, (_, n) => ({ path: `${name}/${n}`, properties: {}, secret: [] })),
  }));
  const paths = pools.flatMap(({ items }) => items.map(({ path }) => path));
  await storeLocks(shared, ...paths.map((path) => ({ workspace_id: 'game', path })));
  const seats = (await seatsOf(storage.read, 'game', pools, bearerOf('ada'))).flatMap((each) => each.seats);
  expect(seats.map(({ item, lock }) => [item.path, lock?.path])).toEqual(paths.map((path) => [path, path]));
  expect(most).toBe(1_000);
});
