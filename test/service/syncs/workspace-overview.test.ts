import { describe, expect, test } from 'vitest';
import { overviewOfWorkspaces } from '../../../src/service/syncs/workspace-overview.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { storeLocks, storeSyncs } from '../../support/stored-rows.ts';

describe.each(databaseKinds)('the overview of workspaces on $name', (kind) => {
  const storage = sharedStorage(kind, { workspaces: ['idle', 'game'] });

  test('has each workspace once, with its newest sync', async () => {
    await storage.commit('global', async (db) => {
      await addWorkspace(db, storage.now, { id: 'film', remote: 'https://user:secret@git.example.com/film.git' });
    });
    const running = { branch: 'release', status: 'running', finished_at: null };
    await storeSyncs(
      storage,
      { id: 'sync_a', workspace_id: 'game', created_at: 1_000, started_at: 2_000, finished_at: 9_000 },
      { id: 'sync_b', workspace_id: 'game', created_at: 3_000, started_at: 4_000, ...running },
      { id: 'sync_c', workspace_id: 'film', created_at: 500, started_at: 600, finished_at: 700 },
      { id: 'sync_d', workspace_id: 'film', created_at: 500, started_at: 700, finished_at: 800 },
    );
    const [game, film] = [{ workspace_id: 'game' }, { workspace_id: 'film', expires_at: 1 }];
    const expired = { ...game, path: 'expired', expires_at: 1 };
    await storeLocks(storage, { ...game, path: 'a' }, { ...game, path: 'b' }, expired, { ...film, path: 'a' });

    const overview = await overviewOfWorkspaces(storage);
    expect(overview).toMatchObject([
      { id: 'film', locks: 0, lastSync: { id: 'sync_d', status: 'succeeded', at: '1970-01-01T00:00:00.800Z' } },
      {
        id: 'game',
        locks: 2,
        // The last requested sync, although another one has ended later.
        lastSync: { id: 'sync_b', branch: 'release', status: 'running', at: '1970-01-01T00:00:04.000Z' },
      },
      { id: 'idle', locks: 0, lastSync: null },
    ]);
    // The remote is shown without credentials.
    expect(overview[0]?.remote).toBe('https://git.example.com/film.git');
  });
});
