import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { overviewOfWorkspaces } from '../../../src/service/syncs/workspace-overview.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { databaseKinds, type TestDatabase } from '../../support/databases.ts';

describe.each(databaseKinds)('the overview of workspaces on $name', ({ open }) => {
  let database: TestDatabase;

  const later = 10_000_000_000_000;
  const sync = (id: string, workspace: string, createdAt: number) => ({
    id,
    workspace_id: workspace,
    branch: `branch-of-${id}`,
    status: 'queued',
    estimated_objects: 0,
    received_objects: 0,
    attempts: 0,
    created_at: createdAt,
  });
  const lock = (workspace: string, path: string, expiresAt: number) => ({
    workspace_id: workspace,
    path,
    id: `lock_${workspace}_${path}`,
    type: 'exclusive',
    token_id: 'tok',
    owner: 'ada',
    origin: null,
    acquired_at: 1,
    expires_at: expiresAt,
    fence: 1,
  });

  beforeAll(async () => {
    database = await open();
    await database.storage.commit('global', async (db) => {
      for (const id of ['idle', 'game', 'film']) {
        await addWorkspace(db, database.storage.now, { id, remote: `https://user:secret@git.example.com/${id}.git` });
      }
      await db
        .insertInto('syncs')
        .values([
          { ...sync('sync_a', 'game', 1_000), status: 'failed', started_at: 2_000, finished_at: 9_000 },
          { ...sync('sync_b', 'game', 3_000), status: 'running', started_at: 4_000, error: null },
          { ...sync('sync_c', 'film', 500), status: 'succeeded', started_at: 600, finished_at: 700 },
          { ...sync('sync_d', 'film', 500), status: 'succeeded', started_at: 700, finished_at: 800 },
        ])
        .execute();
      await db
        .insertInto('synced_branches')
        .values(
          ['main', 'release'].map((name) => ({
            workspace_id: 'game',
            name,
            head: `head-of-${name}`,
            synced_at: 5,
            received_objects: 1,
          })),
        )
        .execute();
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
  });

  test('shows no credential of a remote', async () => {
    const [film] = await overviewOfWorkspaces(database.storage);
    expect(film?.remote).toBe('https://git.example.com/film.git');
  });
});
