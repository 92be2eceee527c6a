import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { readAudit } from '../../../src/service/audit/audit.ts';
import type { Database, Storage } from '../../../src/service/storage/storage.ts';
import { isOrphaned } from '../../../src/service/storage/unavailable.ts';
import { removeWorkspaceInBatches } from '../../../src/service/workspaces/remove-workspace.ts';
import {
  addWorkspace,
  allWorkspaces,
  findWorkspace,
  listWorkspaces,
  workspaceWithId,
} from '../../../src/service/workspaces/workspaces.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { storeLocks, storeSyncs, storeWorkspace } from '../../support/stored-rows.ts';
import { takeIn } from '../locks/taken-locks.ts';

const actor = { name: 'operator:test', tokenId: null, address: null };

const numbers = (count: number) =>
  sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(count)})`;

/** Stores this number of ended locks. */
const storeHistory = (db: Database, workspace: string, rows: number) =>
  sql`insert into lock_history (workspace_id, ended_at, fence, path, lock_id, owner, acquired_at)
    ${numbers(rows)} select ${workspace}, n, n, 'Content/' || (n * 7919 % ${sql.lit(rows)}), 'lock_' || n, 'ci', 0
    from numbers`.execute(db);

describe.each(databaseKinds)('a workspace on $name', (kind) => {
  const storage = sharedStorage(kind);

  const tables = ['locks', 'lock_history', 'remembered_answers', 'syncs', 'hooks', 'deliveries'] as const;
  const rowsLeft = async () =>
    Promise.all(
      tables.map(async (table) => {
        const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(storage.read);
        return `${table} ${Number(rows[0]?.n)}`;
      }),
    );

  /** Stores many rows in every table that can have many rows per workspace. */
  const storeMuch = (workspace: string, rows: number) =>
    storage.commit('global', async (db) => {
      const remote = 'https://ada:s3cret-word@git.example.com/game.git';
      await addWorkspace(db, actor, { id: workspace, remote });
      await storeHistory(db, workspace, rows);
      await sql`insert into remembered_answers (token_id, workspace_id, key, fingerprint, result, created_at)
        ${numbers(rows)} select 'tok_' || (n % 3), ${workspace}, 'key ' || n, '', '{}', n from numbers`.execute(db);
      await sql`insert into hooks (id, workspace_id, url, events, format, secret, headers, active, created_at, updated_at)
        values (${`hook_${workspace}`}, ${workspace}, '', '[]', 'standard', '', '{}', 1, 0, 0)`.execute(db);
      await sql`insert into deliveries (id, hook_id, ordering_key, event, attempts, created_at)
        ${numbers(rows)} select ${workspace} || n, ${`hook_${workspace}`}, '', '{}', 0, n from numbers`.execute(db);
      await sql`insert into syncs (id, workspace_id, branch, requested_by, status, estimated_objects, received_objects, attempts, created_at,
        finished_at) ${numbers(rows)} select ${workspace} || n, ${workspace}, 'main', 'ci', 'succeeded', 0, 0, 1, n, n from numbers`.execute(
        db,
      );
      await sql`insert into locks (workspace_id, path, id, owner, acquired_at, expires_at, fence)
        ${numbers(rows)} select ${workspace}, 'path ' || n, 'lock_' || n, 'ci', 0, n, n from numbers`.execute(db);
    });

  test('is removed in pieces, and all data of another workspace stays', async () => {
    await storeMuch('keeps', 2);
    await storeMuch('large', 2_500);
    await storeSyncs(storage, { id: 'running', workspace_id: 'large', status: 'running', finished_at: null });
    const largest: number[] = [];
    const measured: Storage = {
      ...storage,
      commit: (scope, change) =>
        storage.commit(scope, (db) =>
          change(
            db.withPlugin({
              transformQuery: ({ node }) => node,
              async transformResult({ result }) {
                largest.push(Number(result.numAffectedRows ?? 0));
                return result;
              },
            }),
          ),
        ),
    };
    expect(await removeWorkspaceInBatches(measured, actor, 'large')).toEqual({ kind: 'removed' });
    expect(await rowsLeft()).toEqual(tables.map((table) => `${table} ${table === 'hooks' ? 1 : 2}`));
    expect(Math.max(...largest)).toBeLessThanOrEqual(500);
    expect(largest.filter((rows) => rows === 500)).toHaveLength(25);
  });

  test('is kept with its history if it has a lock', async () => {
    await storeWorkspace(storage, { id: 'held' });
    await storage.commit('global', (db) => storeHistory(db, 'held', 5));
    await storeLocks(storage, { workspace_id: 'held', path: 'a' });
    const before = await rowsLeft();
    expect(await removeWorkspaceInBatches(storage, actor, 'held')).toEqual({ kind: 'locked', locks: 1 });
    expect(await rowsLeft()).toEqual(before);
  });

  test('gets no more locks once its removal has begun, and a repeated command continues an interrupted one', async () => {
    await storeMuch('closing', 600);
    const takes = () => storage.commit({ workspace: 'closing' }, (db) => takeIn(db, ['new'], { workspace: 'closing' }));
    let commits = 0;
    const interrupted: Storage = {
      ...storage,
      async commit(scope, change) {
        commits += 1;
        if (commits === 3) throw new Error('interrupted');
        return storage.commit(scope, change);
      },
    };
    await expect(removeWorkspaceInBatches(interrupted, actor, 'closing')).rejects.toThrow('interrupted');
    expect(await takes().catch(isOrphaned)).toBe(true);
    expect(await workspaceWithId(storage, 'closing')).toBeUndefined();
    expect(await findWorkspace(storage.read, 'closing')).toBeUndefined();
    expect((await listWorkspaces(storage.read)).map(({ id }) => id)).not.toContain('closing');
    const all = await allWorkspaces(storage.read);
    expect(all.filter(({ isClosed }) => isClosed).map(({ id }) => id)).toEqual(['closing']);
    expect(await removeWorkspaceInBatches(storage, actor, 'closing')).toEqual({ kind: 'removed' });
    expect(await removeWorkspaceInBatches(storage, actor, 'closing')).toEqual({ kind: 'unknown' });
    const { entries } = await readAudit(storage, { limit: 100 });
    // Without the password of the remote.
    const detail = { workspace: 'closing', remote: 'https://git.example.com/game.git' };
    expect(entries.filter((entry) => entry.detail['workspace'] === 'closing')).toMatchObject([
      { action: 'workspace.removed', detail },
      { action: 'workspace.added', detail },
    ]);
  });
});
