import type { KyselyPlugin } from 'kysely';
import { expect, test } from 'vitest';
import { countWaiting } from '../../../src/service/locks/line.ts';
import { joinLine } from '../../../src/service/locks/waits.ts';
import { sqlite } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { storeLocks } from '../../support/stored-rows.ts';
import { waitRequest } from '../../support/waits.ts';

const workspace = 'game';
const storage = sharedStorage(sqlite, { workspaces: [workspace] });

test('counts those who wait for all locks of a page with one query, also for paths in folded case', async () => {
  const row = { workspace_id: workspace, owner: 'ada' };
  await storeLocks(storage, { ...row, path: 'a' }, { ...row, path: 'B', folded_path: 'b' }, { ...row, path: 'c' });
  const waits = [waitRequest('1', { paths: ['a', 'b'] }), waitRequest('2')];
  await storage.commit({ workspace }, (db) => joinLine(db, storage.now, waits));
  let queries = 0;
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      queries += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const locks = await storage.read.selectFrom('locks').selectAll().orderBy('path').execute();
  const counts = await countWaiting({ ...storage, read: storage.read.withPlugin(counting) }, locks);
  expect(locks.map(({ path, id }) => [path, counts.get(id)])).toEqual([
    ['B', 1],
    ['a', 2],
    ['c', 0],
  ]);
  expect(queries).toBeLessThanOrEqual(1);
});
