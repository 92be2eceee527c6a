import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ClaimedSync, claimSync, enqueue, finishSync } from '../../../src/service/syncs/queue.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { databaseKinds, type TestDatabase } from '../../support/databases.ts';

const workspaces = ['game', 'film'];
const end = { kind: 'succeeded', head: '1'.repeat(40), receivedObjects: 1 } as const;

describe.each(databaseKinds)('syncs of a branch one after the other on $name', ({ open }) => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await open();
    await database.storage.commit('global', async (db) => {
      for (const id of workspaces) {
        await addWorkspace(db, database.storage.now, { id, remote: 'https://git.example.com/a.git' });
      }
    });
  });
  beforeEach(() => database.storage.commit('global', (db) => db.deleteFrom('syncs').execute()));
  afterAll(() => database.remove());

  /** Undefined when what was queued has to wait. */
  async function queueAndClaim(workspace = 'game', branch = 'main'): Promise<ClaimedSync | undefined> {
    const { storage } = database;
    await storage.commit('global', (db) =>
      enqueue(db, storage.now, { workspace, branch, estimatedObjects: 0, requestedBy: 'ada' }),
    );
    return claimSync(storage);
  }

  async function syncOnce(workspace?: string, branch?: string): Promise<boolean> {
    const { storage } = database;
    const claimed = await queueAndClaim(workspace, branch);
    if (claimed === undefined) return false;
    await storage.commit('global', (db) => finishSync(db, storage.now, claimed, end));
    return true;
  }

  test('three are begun as soon as they can, and the next when five seconds have passed', async () => {
    expect([await syncOnce(), await syncOnce(), await syncOnce(), await syncOnce()]).toEqual([true, true, true, false]);
    await database.storage.commit('global', (db) =>
      db
        .updateTable('syncs')
        .set((column) => ({ finished_at: column('finished_at', '-', 5_000) }))
        .where('finished_at', 'is not', null)
        .execute(),
    );
    expect(await claimSync(database.storage)).toMatchObject({ workspace: 'game', branch: 'main' });
  });

  test('those that ended before the clock was put back keep none waiting', async () => {
    for (let round = 0; round < 3; round += 1) await syncOnce();
    expect(await queueAndClaim()).toBeUndefined();
    await database.storage.commit('global', (db) =>
      db
        .updateTable('syncs')
        .set((column) => ({ finished_at: column('finished_at', '+', 3 * 3_600_000) }))
        .where('finished_at', 'is not', null)
        .execute(),
    );
    expect(await claimSync(database.storage)).toMatchObject({ workspace: 'game', branch: 'main' });
  });

  test('those of a branch keep no other branch waiting, nor one of that name in another workspace', async () => {
    for (let round = 0; round < 4; round += 1) await syncOnce();
    expect(await syncOnce('game', 'release')).toBe(true);
    expect(await syncOnce('film', 'main')).toBe(true);
  });
});
