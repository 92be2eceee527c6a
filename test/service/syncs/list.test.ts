import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findRecordedSync, listSyncs, unfinishedSyncs } from '../../../src/service/syncs/list.ts';
import { claimSync, enqueue, finishSync } from '../../../src/service/syncs/queue.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { databaseKinds, type TestDatabase } from '../../support/databases.ts';
import { runs } from '../../support/runs.ts';

describe.each(databaseKinds)('the history of syncs on $name', ({ open }) => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await open();
    await database.storage.commit('global', async (db) => {
      for (const id of ['game', 'film']) {
        await addWorkspace(db, database.storage.now, { id, remote: 'https://git.example.com/a.git' });
      }
    });
  });
  beforeEach(() => database.storage.commit('global', (db) => db.deleteFrom('syncs').execute()));
  afterAll(() => database.remove());

  interface Made {
    readonly workspace: string;
    readonly branch: string;
    readonly createdAt: number;
  }

  const insert = (syncs: readonly Made[]) =>
    database.storage.commit('global', async (db) => {
      if (syncs.length === 0) return;
      const rows = syncs.map(({ workspace, branch, createdAt }, index) => ({
        id: `sync_${index}`,
        workspace_id: workspace,
        branch,
        status: 'succeeded',
        estimated_objects: 1,
        received_objects: 1,
        attempts: 1,
        created_at: createdAt,
        started_at: createdAt,
        finished_at: createdAt,
      }));
      await db.insertInto('syncs').values(rows).execute();
    });

  const made = fc.record({
    workspace: fc.constantFrom('game', 'film'),
    branch: fc.constantFrom('main', 'release'),
    createdAt: fc.integer({ min: 0, max: 5 }),
  });

  test('its pages have each sync of the workspace and the branch once, the newest first, whatever shares a moment', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(made, { maxLength: 12 }),
        fc.option(fc.constantFrom('main', 'release'), { nil: undefined }),
        fc.integer({ min: 1, max: 4 }),
        async (syncs, branch, limit) => {
          await database.storage.commit('global', (db) => db.deleteFrom('syncs').execute());
          await insert(syncs);
          const seen: { id: string; at: number }[] = [];
          for (let before: { createdAt: number; id: string } | undefined; ; ) {
            const page = await listSyncs(database.storage, 'game', { branch, before, limit });
            expect(page.syncs.length).toBeLessThanOrEqual(limit);
            seen.push(...page.syncs.map(({ sync_id, created_at }) => ({ id: sync_id, at: Date.parse(created_at) })));
            before = page.next;
            if (before === undefined) break;
          }
          const expected = syncs.flatMap((sync, index) =>
            sync.workspace === 'game' && (branch === undefined || sync.branch === branch) ? [`sync_${index}`] : [],
          );
          expect(seen.map(({ id }) => id).sort()).toEqual(expected.sort());
          expect(seen.map(({ at }) => at)).toEqual(seen.map(({ at }) => at).sort((one, other) => other - one));
        },
      ),
      { numRuns: runs(25, 300) },
    );
  });

  test('tells who was first to ask, and which have not ended', async () => {
    const { storage } = database;
    const ask = (requestedBy: string) =>
      storage.commit('global', (db) =>
        enqueue(db, storage.now, { workspace: 'game', branch: 'main', estimatedObjects: 3, requestedBy }),
      );
    const { sync_id } = await ask('ada');
    expect((await ask('grace')).sync_id).toBe(sync_id);
    expect(await findRecordedSync(storage, 'game', sync_id)).toMatchObject({ requested_by: 'ada', status: 'queued' });
    expect(await findRecordedSync(storage, 'film', sync_id)).toBeUndefined();
    expect(await unfinishedSyncs(storage, 'game')).toMatchObject([{ sync_id, status: 'queued' }]);
    expect(await unfinishedSyncs(storage, 'film')).toEqual([]);
    const claimed = (await claimSync(storage)) ?? expect.fail('It was not claimed.');
    expect(await unfinishedSyncs(storage, 'game')).toMatchObject([{ sync_id, status: 'running' }]);
    await storage.commit('global', (db) => finishSync(db, storage.now, claimed, { kind: 'failed', error: 'No.' }));
    expect(await unfinishedSyncs(storage, 'game')).toEqual([]);
    expect(await listSyncs(storage, 'game', { limit: 1 })).toMatchObject({
      syncs: [{ sync_id, status: 'failed', error: 'No.', requested_by: 'ada' }],
      next: undefined,
    });
  });
});
