import { beforeEach, describe, expect, test } from 'vitest';
import { listSyncs } from '../../../src/service/syncs/list.ts';
import { type ClaimedSync, claimSync, enqueue, finishSync, noObjects } from '../../../src/service/syncs/queue.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { storeSyncs } from '../../support/stored-rows.ts';

describe.each(databaseKinds)('the queue of syncs on $name', (kind) => {
  const storage = sharedStorage(kind, { workspaces: ['game', 'film'] });
  const removeAll = () => storage.commit('global', (db) => db.deleteFrom('syncs').execute());
  beforeEach(removeAll);

  const queue = (requestedBy = 'ada', workspace = 'game', branch = 'main') =>
    storage.commit('global', (db) => enqueue(db, storage.now, { workspace, branch, estimatedObjects: 3, requestedBy }));

  /** Queues a sync and claims one; undefined if it has to wait. */
  async function queueAndClaim(workspace?: string, branch?: string): Promise<ClaimedSync | undefined> {
    await queue('ada', workspace, branch);
    return claimSync(storage);
  }

  async function syncOnce(workspace?: string, branch?: string): Promise<boolean> {
    const claimed = await queueAndClaim(workspace, branch);
    if (claimed === undefined) return false;
    const end = { kind: 'succeeded', head: '1'.repeat(40), receivedObjects: 1, lfs: noObjects } as const;
    await storage.commit('global', (db) => finishSync(db, storage.now, claimed, end));
    return true;
  }

  const moveEnds = (ms: number) =>
    storage.commit('global', (db) =>
      db
        .updateTable('syncs')
        .set((column) => ({ finished_at: column('finished_at', '+', ms) }))
        .where('finished_at', 'is not', null)
        .execute(),
    );

  test.each([
    ['after five seconds', -5_000],
    ['after the clock was set back', 3 * 3_600_000],
  ])('starts three syncs of a branch without delay, and the next one %s', async (_, passed) => {
    expect([await syncOnce(), await syncOnce(), await syncOnce(), await syncOnce()]).toEqual([true, true, true, false]);
    await moveEnds(passed);
    expect(await claimSync(storage)).toMatchObject({ workspace: 'game', branch: 'main' });
  });

  test('a queued sync wakes the workers of its instance, and one that joins it does not', async () => {
    const woken: string[] = [];
    storage.onQueued('syncs', () => woken.push('syncs'));
    storage.onQueued('deliveries', () => woken.push('deliveries'));
    await queue();
    expect(woken).toEqual(['syncs']);
    await queue('grace');
    expect(woken).toEqual(['syncs']);
  });

  test('syncs of a branch delay no other branch, nor the same branch in another workspace', async () => {
    for (let round = 0; round < 4; round += 1) await syncOnce();
    expect(await syncOnce('game', 'release')).toBe(true);
    expect(await syncOnce('film', 'main')).toBe(true);
  });

  test('the newest syncs are listed, newest first, even if several share a time', async () => {
    const times = [3, 1, 3, 2, 0];
    await removeAll();
    await storeSyncs(
      storage,
      ...times.map((created_at, index) => ({ id: `sync_${index}`, workspace_id: 'game', created_at })),
    );
    const listed = await listSyncs(storage, 'game', 4);
    expect(listed.map(({ sync_id }) => sync_id)).toEqual(['sync_2', 'sync_0', 'sync_3', 'sync_1']);
  });

  test('records the first requester of a sync', async () => {
    const { sync_id } = await queue('ada');
    expect((await queue('grace')).sync_id).toBe(sync_id);
    expect(await listSyncs(storage, 'game', 1)).toMatchObject([{ requested_by: 'ada', sync_id }]);
    expect(await listSyncs(storage, 'film', 1)).toEqual([]);
    const claimed = (await claimSync(storage)) ?? expect.fail('It was not claimed.');
    await storage.commit('global', (db) => finishSync(db, storage.now, claimed, { kind: 'failed', error: 'No.' }));
    expect(await listSyncs(storage, 'game', 1)).toMatchObject([
      { sync_id, status: 'failed', error: 'No.', requested_by: 'ada' },
    ]);
  });
});
