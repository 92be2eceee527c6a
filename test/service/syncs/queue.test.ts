import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { listSyncs, overviewOfWorkspaces } from '../../../src/service/syncs/list.ts';
import { type ClaimedSync, claimSync, enqueue, recordSync } from '../../../src/service/syncs/queue.ts';
import { noObjects } from '../../../src/service/syncs/wanted-objects.ts';
import { databaseKinds } from '../../support/databases.ts';
import { branchNamed } from '../../support/git-service.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { changeRows, storeManySyncs, storeSyncs, storeWorkspace } from '../../support/stored-rows.ts';
import { planOf, type RecordedQuery, recording } from '../storage/changed-queries.ts';

describe.each(databaseKinds)('the queue of syncs on $name', (kind) => {
  const storage = sharedStorage(kind, { workspaces: ['game', 'film'] });
  const removeAll = () => storage.commit('global', (db) => db.deleteFrom('syncs').execute());
  beforeEach(removeAll);

  const queue = (requestedBy = 'ada', workspace = 'game', branch = 'main') =>
    storage.commit('global', (db) =>
      enqueue(db, { workspace, branch: branchNamed(branch), estimatedObjects: 3, requestedBy }),
    );

  /** Queues a sync and claims one; undefined if it has to wait. */
  async function queueAndClaim(workspace?: string, branch?: string): Promise<ClaimedSync | undefined> {
    await queue('ada', workspace, branch);
    return claimSync(storage);
  }

  async function syncOnce(workspace?: string, branch?: string): Promise<boolean> {
    const claimed = await queueAndClaim(workspace, branch);
    if (claimed === undefined) return false;
    const end = { kind: 'succeeded', head: '1'.repeat(40), receivedObjects: 1, lfs: noObjects } as const;
    await storage.commit('global', (db) => recordSync(db, claimed, end));
    return true;
  }

  const moveEnds = (ms: number) => changeRows(storage, 'syncs', { finished_at: sql`finished_at + ${ms}` });

  test.each([
    ['after five seconds', -5_000],
    ['after the clock was set back', 3 * 3_600_000],
  ])('starts three syncs of a branch without delay, and the next one %s', async (_, passed) => {
    expect([await syncOnce(), await syncOnce(), await syncOnce(), await syncOnce()]).toEqual([true, true, true, false]);
    await moveEnds(passed);
    expect(await claimSync(storage)).toMatchObject({ workspace: 'game', branch: 'main' });
  });

  test('an abandoned sync starts again without the progress of its first attempt', async () => {
    await queueAndClaim();
    await changeRows(storage, 'syncs', { received_objects: 5, received_bytes: 7, total_bytes: 9, claimed_until: 0 });
    expect(await claimSync(storage)).toMatchObject({ branch: 'main' });
    const row = await storage.read.selectFrom('syncs').selectAll().executeTakeFirst();
    expect(row).toMatchObject({ attempts: 2, received_objects: 0, received_bytes: 0, total_bytes: null });
  });

  test('a claim that finds nothing changes nothing, and tokens stay remembered', async () => {
    const version = storage.accessVersion?.();
    expect(await claimSync(storage)).toBeUndefined();
    const claim = () => expect.fail('It began a change.');
    expect(await claimSync({ ...storage, claim })).toBeUndefined();
    expect(storage.accessVersion?.()).toBe(version);
  });

  test('a claim reads the newest syncs of a branch, however many it has had', async () => {
    await storeManySyncs(storage, 'game');
    await queue();
    const queries: RecordedQuery[] = [];
    await claimSync({ ...storage, read: recording(storage.read, queries) });
    const plan = await planOf(storage, queries.at(-1) ?? expect.fail('It asked nothing.'));
    expect(plan).toMatch(/syncs_of_branch/);
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
    await storage.commit('global', (db) => recordSync(db, claimed, { kind: 'failed', error: 'No.' }));
    expect(await listSyncs(storage, 'game', 1)).toMatchObject([
      { sync_id, status: 'failed', error: 'No.', requested_by: 'ada' },
    ]);
  });
});

describe.each(databaseKinds)('the overview of workspaces on $name', (kind) => {
  const storage = sharedStorage(kind, { workspaces: ['idle', 'game'] });

  test('has each workspace once, with its newest sync', async () => {
    await storeWorkspace(storage, { id: 'film', remote: 'https://user:secret@git.example.com/film.git' });
    const running = { branch: 'release', status: 'running', finished_at: null } as const;
    await storeSyncs(
      storage,
      { id: 'sync_a', workspace_id: 'game', created_at: 1_000, started_at: 2_000, finished_at: 9_000 },
      { id: 'sync_b', workspace_id: 'game', created_at: 3_000, started_at: 4_000, ...running },
      { id: 'sync_c', workspace_id: 'film', created_at: 500, started_at: 600, finished_at: 700 },
      { id: 'sync_d', workspace_id: 'film', created_at: 500, started_at: 700, finished_at: 800 },
    );

    const overview = await overviewOfWorkspaces(storage);
    expect(overview).toMatchObject([
      { id: 'film', lastSync: { id: 'sync_d', status: 'succeeded', at: '1970-01-01T00:00:00.800Z' } },
      {
        id: 'game',
        // The last requested sync, although another one has ended later.
        lastSync: { id: 'sync_b', branch: 'release', status: 'running', at: '1970-01-01T00:00:04.000Z' },
      },
      { id: 'idle', lastSync: null },
    ]);
    // The remote is shown without credentials.
    expect(overview[0]?.remote).toBe('https://git.example.com/film.git');
  });
});
