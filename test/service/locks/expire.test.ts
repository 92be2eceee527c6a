import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { removeExpiredLocks } from '../../../src/service/locks/history.ts';
import { databaseKinds } from '../../support/databases.ts';
import { changeRows, storeWorkspace } from '../../support/stored-rows.ts';
import { hookedStorage } from '../webhooks/hooked-storage.ts';

describe.each(databaseKinds)('expired locks on $name', (kind) => {
  const { storage, hook, deliveries } = hookedStorage(kind);
  beforeAll(async () => {
    for (const id of ['crowded', 'quiet']) await storeWorkspace(storage, { id });
  });

  const hookIn = (of: string, url: string) => hook(url, { workspace: of, events: ['lock.expired'] });

  const expired = (workspace: string, count: number, at: number) =>
    storage.commit('global', (db) =>
      sql`insert into locks (workspace_id, path, id, owner, acquired_at, expires_at, fence)
        with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < ${sql.lit(count - 1)})
        select ${sql.lit(workspace)}, ${sql.lit(`${workspace}/`)} || n, ${sql.lit(`lock_${workspace}_`)} || n,
          'ada', 0, ${sql.lit(at)}, n from numbers`.execute(db),
    );

  const left = async (workspace: string): Promise<number> =>
    (await storage.read.selectFrom('locks').select('id').where('workspace_id', '=', workspace).execute()).length;
  const told = async (): Promise<number> => (await deliveries()).length;

  test('do not delay those of other workspaces, even with many locks and hooks', async () => {
    for (let index = 0; index < 50; index += 1) await hookIn('crowded', `https://${index}.example.com/`);
    await hookIn('quiet', 'https://quiet.example.com/');
    await expired('crowded', 1_000, 1);
    await expired('quiet', 3, 2);

    const removed = await removeExpiredLocks(storage);

    expect(await left('quiet')).toBe(0);
    expect(removed - 3).toBe(1_000 - (await left('crowded')));
    // One transaction, which others wait for, sends at most this number of notifications.
    expect(await told()).toBeGreaterThan(400);
    expect(await told()).toBeLessThanOrEqual(600);
  });

  test('are all removed eventually, while active locks stay', async () => {
    await hookIn('quiet', 'https://quiet.example.com/');
    await expired('crowded', 1_200, 1);
    await expired('quiet', 700, 2);
    for (const path of ['quiet/5', 'crowded/7'])
      await changeRows(storage, 'locks', { expires_at: 8_000_000_000_000 }, { path });
    let removed = 0;
    for (let last = 1; last > 0; removed += last) last = await removeExpiredLocks(storage);
    expect(removed).toBe(1_898);
    expect([await left('crowded'), await left('quiet')]).toEqual([1, 1]);
    expect(await told()).toBe(699);
  });
});
