import { describe, expect, onTestFinished, test } from 'vitest';
import { createDatabaseGauges } from '../../../src/service/background-work.ts';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';
import { removeWorkspaceInBatches } from '../../../src/service/workspaces/remove-workspace.ts';
import { databaseKinds, sqlite } from '../../support/databases.ts';
import { operator } from '../../support/operator.ts';
import { startTestService } from '../../support/running-service.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { changeRows, revoke, storeLocks, storeSyncedBranches, storeWorkspace } from '../../support/stored-rows.ts';

const day = 86_400;

describe.each(databaseKinds)('the gauges of the database on $name', (kind) => {
  const storage = sharedStorage(kind, { workspaces: ['film', 'game', 'idle'] });
  const metrics = createMetrics();
  const shown = async (name: string): Promise<string[]> =>
    (await metrics.registry.getSingleMetricAsString(name)).split('\n').filter((line) => !line.startsWith('#'));

  test('count the locks of each workspace, and drop those of a removed one', async () => {
    await storeLocks(storage, ...['a', 'b'].map((path) => ({ workspace_id: 'game', path })));
    const { measureWorkspaces } = createDatabaseGauges(storage, metrics);
    await measureWorkspaces();
    expect(await shown('workspace_locks')).toEqual([
      'workspace_locks{workspace="film"} 0',
      'workspace_locks{workspace="game"} 2',
      'workspace_locks{workspace="idle"} 0',
    ]);
    for (const workspace of ['game', 'idle']) metrics.lockWaiters.inc({ workspace }, 1);
    await removeWorkspaceInBatches(storage, operator, 'idle');
    await measureWorkspaces();
    expect(await shown('workspace_locks')).not.toContain('workspace_locks{workspace="idle"} 0');
    const waiters = () => shown('workspace_lock_waiters');
    const others = ['workspace_lock_waiters{workspace="film"} 0', 'workspace_lock_waiters{workspace="game"} 1'];
    // A client still waits there: its end is subtracted.
    expect((await waiters()).sort()).toEqual([...others, 'workspace_lock_waiters{workspace="idle"} 1']);
    metrics.lockWaiters.inc({ workspace: 'idle' }, -1);
    await measureWorkspaces();
    expect((await waiters()).sort()).toEqual(others);
  });

  test('show the end of the last sync of any branch, and nothing for a workspace without one', async () => {
    for (const [name, synced_at] of Object.entries({ main: 1_700_000_000_500, old: 1_600_000_000_000 }))
      await storeSyncedBranches(storage, { workspace_id: 'game', name, head: 'a'.repeat(40), synced_at });
    await createDatabaseGauges(storage, metrics).measureWorkspaces();
    const name = 'workspace_last_successful_sync_timestamp_seconds';
    expect(await shown(name)).toEqual([`${name}{workspace="game"} 1700000000.5`]);
  });

  test('count the tokens that someone must renew within 14 days', async () => {
    const now = Date.now();
    const token = { owner: 'ada', scopes: '[]', created_at: 1 };
    const rows = Object.entries({ soon: 13, today: 0.5, later: 15, over: -1, revoked: 2, rotated: 2, exchanged: 0.01 });
    await storage.commit('global', (db) =>
      db
        .insertInto('tokens')
        .values([
          { ...token, id: 'forever', name: 'forever', hash: 'forever' },
          ...rows.map(([id, days]) => ({
            ...token,
            id,
            name: id,
            hash: id,
            expires_at: Math.round(now + days * day * 1_000),
          })),
        ])
        .execute(),
    );
    await revoke(storage, 'revoked');
    await changeRows(storage, 'tokens', { replaced_by: 'forever' }, { id: 'rotated' });
    await changeRows(storage, 'tokens', { run_id: 'run' }, { id: 'exchanged' });
    await createDatabaseGauges(storage, metrics).measureTokens();
    expect(await shown('workspace_tokens_expiring')).toEqual(['workspace_tokens_expiring 2']);
  });
});

test('the metrics show a token only the workspaces that it may see', async () => {
  const { storage, remove } = await sqlite.open();
  for (const id of ['seen', 'hidden']) await storeWorkspace(storage, { id });
  const service = await startTestService({ name: 'SQLite', open: async () => ({ storage, remove }) });
  onTestFinished(service.stop);
  const { secret: all } = await service.token();
  const { secret: limited } = await service.token({ workspaces: ['seen'] });
  const text = async (token: string) => (await service.ask('GET', '/metrics', { token })).text;
  await expect.poll(() => text(all)).toContain('workspace_locks{workspace="hidden"} 0');
  expect(await text(limited)).toContain('workspace_locks{workspace="seen"} 0');
  expect(await text(limited)).toContain('workspace_locks_expired_total 0');
  expect(await text(limited)).not.toContain('hidden');
});
