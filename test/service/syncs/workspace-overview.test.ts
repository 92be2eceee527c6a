import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { overviewOfWorkspaces } from '../../../src/service/syncs/workspace-overview.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { databaseKinds, type TestDatabase } from '../../support/databases.ts';

describe.each(databaseKinds)('the overview of workspaces on $name', ({ open }) => {
  let database: TestDatabase;

  const counts = { estimated_objects: 0, received_objects: 0, attempts: 0 };
  const sync = (id: string, workspace_id: string, created_at: number, started_at: number, status: string) => ({
    ...{ id, workspace_id, created_at, started_at, status },
    ...{ branch: `branch-of-${id}`, finished_at: null, ...counts },
  });
  const lock = (workspace_id: string, path: string, expires_at: number) => ({
    ...{ workspace_id, path, expires_at, id: `lock_${workspace_id}_${path}`, type: 'exclusive', token_id: 'tok' },
    ...{ owner: 'ada', origin: null, acquired_at: 1, fence: 1 },
  });
  const later = 10_000_000_000_000;

  beforeAll(async () => {
    database = await open();
    await database.storage.commit('global', async (db) => {
      for (const id of ['idle', 'game', 'film']) {
        await addWorkspace(db, database.storage.now, { id, remote: `https://user:secret@git.example.com/${id}.git` });
      }
      await db
        .insertInto('syncs')
        .values([
          { ...sync('sync_a', 'game', 1_000, 2_000, 'failed'), finished_at: 9_000 },
          sync('sync_b', 'game', 3_000, 4_000, 'running'),
          { ...sync('sync_c', 'film', 500, 600, 'succeeded'), finished_at: 700 },
          { ...sync('sync_d', 'film', 500, 700, 'succeeded'), finished_at: 800 },
        ])
        .execute();
      const branches = ['main', 'release'].map((name) => ({ name, head: `head-of-${name}`, synced_at: 5 }));
      const synced = branches.map((branch) => ({ ...branch, workspace_id: 'game', received_objects: 1 }));
      await db.insertInto('synced_branches').values(synced).execute();
      await db
        .insertInto('locks')
        .values([lock('game', 'a', later), lock('game', 'b', later), lock('game', 'expired', 1), lock('film', 'a', 1)])
        .execute();
    });
  });
  afterAll(() => database.remove());

  test('has each workspace once, with what is newest of it', async () => {
    const overview = await overviewOfWorkspaces(database.storage);
    expect(overview).toMatchObject([
      { id: 'film', locks: 0, lastSync: { id: 'sync_d', status: 'succeeded', at: '1970-01-01T00:00:00.800Z' } },
      {
        id: 'game',
        locks: 2,
        // The one that was asked for last, though another has ended later.
        lastSync: { id: 'sync_b', branch: 'branch-of-sync_b', status: 'running', at: '1970-01-01T00:00:04.000Z' },
      },
      { id: 'idle', locks: 0, lastSync: null },
    ]);
    expect(overview.map(({ synced }) => [...synced])).toEqual([
      [],
      [
        ['main', { head: 'head-of-main', syncedAt: 5 }],
        ['release', { head: 'head-of-release', syncedAt: 5 }],
      ],
      [],
    ]);
    // Without the credentials.
    expect(overview[0]?.remote).toBe('https://git.example.com/film.git');
  });
});
