import { expect, onTestFinished, test } from 'vitest';
import { oneCommitPerChange } from '../../bench/service/variant.ts';
import { databaseKinds } from '../support/databases.ts';

test('commits each change on its own, and a failed change does not affect the others', async () => {
  const commits: number[] = [];
  const opened = await databaseKinds[0]?.open((changes) => commits.push(changes));
  if (opened === undefined) throw new Error('There is no kind of database.');
  const { storage: usual, remove } = opened;
  onTestFinished(remove);
  const storage = oneCommitPerChange(usual);
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, number) =>
      storage.commit('global', async (db) => {
        if (number === 7) throw new Error('This one fails.');
        await db
          .updateTable('fences')
          .set((column) => ({ value: column('value', '+', 1) }))
          .execute();
      }),
    ),
  );
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  expect(await storage.read.selectFrom('fences').select('value').executeTakeFirstOrThrow()).toEqual({ value: 19 });
  // The failed change was alone in its transaction, and left nothing to commit.
  expect(commits).toEqual(Array.from({ length: 19 }, () => 1));
});
