import { expect, test } from 'vitest';
import { raiseFences } from '../../../src/service/backup/restore.ts';
import { sqlite } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';

const storage = sharedStorage(sqlite);

test('the fences of more workspaces than a statement has parameters are raised', async () => {
  const replaced = Array.from({ length: 17_000 }, (_, index) => ({ workspace_id: `game-${index}`, value: index }));
  await storage.commit('global', (db) => raiseFences(db, replaced, 0));
  const { count } = await storage.read
    .selectFrom('fences')
    .where('workspace_id', 'like', 'game-%')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  expect(count).toBe(replaced.length);
});
