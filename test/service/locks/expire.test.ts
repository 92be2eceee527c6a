import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { removeExpiredLocks } from '../../../src/service/locks/expire.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { parseExtraHeaders } from '../../../src/service/webhooks/extra-headers.ts';
import { registerHook } from '../../../src/service/webhooks/hooks.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { databaseKinds, type TestDatabase } from '../../support/databases.ts';
import { actor, secret } from '../webhooks/hooked-storage.ts';
import { valueIn } from '../webhooks/samples.ts';

describe.each(databaseKinds)('locks that have expired on $name', (kind) => {
  let database: TestDatabase;
  let storage: Storage;

  beforeAll(async () => {
    database = await kind.open();
    storage = database.storage;
    await storage.commit('global', async (db) => {
      for (const id of ['crowded', 'quiet'])
        await addWorkspace(db, storage.now, { id, remote: 'https://git.example.com/' });
    });
  });
  afterEach(() =>
    storage.commit('global', async (db) => {
      await db.deleteFrom('hooks').execute();
      await db.deleteFrom('locks').execute();
    }),
  );
  afterAll(() => database.remove());

  const hook = (workspace: string, url: string) =>
    storage.commit('global', (db) =>
      registerHook(db, storage.now, {
        workspace,
        url,
        events: ['lock.expired'],
        branches: null,
        format: 'standard',
        secret,
        headers: valueIn(parseExtraHeaders({})),
        actor,
      }),
    );

  const expired = (workspace: string, count: number, at: number) =>
    storage.commit('global', (db) =>
      sql`insert into locks (workspace_id, path, id, type, token_id, owner, acquired_at, expires_at, fence)
        with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < ${sql.lit(count - 1)})
        select ${sql.lit(workspace)}, ${sql.lit(`${workspace}/`)} || n, ${sql.lit(`lock_${workspace}_`)} || n,
          'exclusive', 'tok_1', 'ada', 0, ${sql.lit(at)}, n from numbers`.execute(db),
    );

  const left = async (workspace: string): Promise<number> =>
    (await storage.read.selectFrom('locks').select('id').where('workspace_id', '=', workspace).execute()).length;
  const told = async (): Promise<number> => (await storage.read.selectFrom('deliveries').select('id').execute()).length;

  test('of one workspace, many of which have many hooks to be told, do not hold up those of another', async () => {
    for (let index = 0; index < 50; index += 1) await hook('crowded', `https://${index}.example.com/`);
    await hook('quiet', 'https://quiet.example.com/');
    await expired('crowded', 1_000, 1);
    await expired('quiet', 3, 2);

    const removed = await removeExpiredLocks(storage);

    expect(await left('quiet')).toBe(0);
    expect(removed - 3).toBe(1_000 - (await left('crowded')));
    // One transaction, for which everybody waits, tells of no more than these.
    expect(await told()).toBeGreaterThan(400);
    expect(await told()).toBeLessThanOrEqual(600);
  });

  test('are all removed in the end, and none that has not expired', async () => {
    await hook('quiet', 'https://quiet.example.com/');
    await expired('crowded', 1_200, 1);
    await expired('quiet', 700, 2);
    await storage.commit('global', (db) =>
      db
        .updateTable('locks')
        .set({ expires_at: 8_000_000_000_000 })
        .where('path', 'in', ['quiet/5', 'crowded/7'])
        .execute(),
    );
    let removed = 0;
    for (let last = 1; last > 0; removed += last) last = await removeExpiredLocks(storage);
    expect(removed).toBe(1_898);
    expect([await left('crowded'), await left('quiet')]).toEqual([1, 1]);
    expect(await told()).toBe(699);
  });
});
