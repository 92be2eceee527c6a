import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { changesUntil, removeOldData } from '../../../src/service/background-work.ts';
import { removeOld } from '../../../src/service/storage/remove-old.ts';
import { maxBusyPauseMs } from '../../../src/service/storage/sqlite.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { now } from '../../../src/service/storage/timestamp.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { removeOldRows, storeSyncs } from '../../support/stored-rows.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

describe.each(databaseKinds)('the removal of old data on $name', (kind) => {
  const storage = sharedStorage(kind, { workspaces: ['w'] });
  beforeAll(async () => {
    await storage.commit('global', async (db) => {
      await sql`insert into hooks (id, workspace_id, url, events, format, secret, headers, active, created_at, updated_at)
        values ('h', 'w', '', '[]', 'standard', '', '{}', 1, 0, 0)`.execute(db);
    });
  });

  const ago = (ms: number) => sql<number>`${now} - ${sql.lit(ms)}`;
  const long = 1_000 * day;
  const ended = (finished: number | null) => (finished === null ? null : ago(finished));
  const sync = (id: string, finished: number | null) => {
    const status = finished === null ? 'queued' : 'succeeded';
    return storeSyncs(storage, { id, workspace_id: 'w', status, created_at: ago(long), finished_at: ended(finished) });
  };
  const response = (key: string, age: number) => {
    const row = { token_id: '', workspace_id: 'w', key, fingerprint: '', result: '' };
    const values = { ...row, created_at: ago(age) };
    return storage.commit('global', (db) => db.insertInto('remembered_answers').values(values).execute());
  };
  const names = async (table: 'syncs' | 'remembered_answers', name: 'id' | 'key'): Promise<string[]> => {
    const { rows } = await sql<{ name: string }>`select ${sql.ref(name)} as name from ${sql.table(table)}`.execute(
      storage.read,
    );
    return rows.map((row) => row.name).sort();
  };

  test('keeps syncs for 90 days after they end and unfinished ones indefinitely', async () => {
    await sync('old', 90 * day + minute);
    await sync('young', 90 * day - minute);
    await sync('waiting', null);
    await removeOldRows(storage);
    expect(await names('syncs', 'id')).toEqual(['waiting', 'young']);
  });

  test('keeps the audit log forever, or for the configured time', async () => {
    for (const [action, age] of [
      ['old', 30 * day + minute],
      ['young', 30 * day - minute],
    ] as const) {
      const entry = { at: ago(age), actor: 'ada', action, detail: '{}' };
      await storage.commit('global', (db) => db.insertInto('audit').values(entry).execute());
    }
    const actions = async () =>
      (await storage.read.selectFrom('audit').select('action').execute()).map(({ action }) => action);
    await removeOldRows(storage);
    expect(await actions()).toContain('old');
    await removeOldRows(storage, { seconds: (30 * day) / 1_000 });
    expect(await actions()).not.toContain('old');
    expect(await actions()).toContain('young');
  });

  test('removes all old rows, however many, in batches', async () => {
    await storage.commit('global', (db) => db.deleteFrom('remembered_answers').execute());
    await response('young', day - minute);
    for (let index = 0; index < 25; index += 1) await response(`${index}`, 2 * day + Math.floor(index / 4) * minute);
    // A batch is not larger if many rows have the same time.
    await storage.commit('global', (db) =>
      db.updateTable('remembered_answers').set({ created_at: 1 }).where('key', '!=', 'young').execute(),
    );
    const pauses: number[] = [];
    let ended = 0;
    const commit: Storage['commit'] = async (...change) => {
      pauses.push(performance.now() - ended);
      const result = await storage.commit(...change);
      ended = performance.now();
      return result;
    };
    const old = { table: 'remembered_answers', time: 'created_at', keptForMs: day } as const;
    await removeOld({ ...storage, commit }, { ...old, atOnce: 5 });
    expect(await names('remembered_answers', 'key')).toEqual(['young']);
    expect(pauses).toHaveLength(6);
    // Another process that finds the database busy asks again in each pause.
    expect(Math.min(...pauses)).toBeGreaterThan(maxBusyPauseMs + 2);
  });

  test('removes the other data if one kind cannot be removed, and reports the failure', async () => {
    await sync('older', 90 * day + minute);
    await storage.commit('global', (db) => sql`alter table remembered_answers rename to gone`.execute(db));
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    await removeOldData({ keepAudit: undefined, storage, onError });
    expect(errors).toMatchObject([{ message: expect.stringContaining('remembered_answers') }]);
    expect(await names('syncs', 'id')).not.toContain('older');
  });

  test('ends after the current batch if the service stops', async () => {
    for (let index = 0; index < 12; index += 1)
      await storeSyncs(storage, { id: `${index}`, workspace_id: 'w', finished_at: 1 });
    const stopping = new AbortController();
    const until = changesUntil(
      {
        ...storage,
        async commit(scope, change) {
          const result = await storage.commit(scope, change);
          stopping.abort();
          return result;
        },
      },
      stopping.signal,
    );
    const old = { table: 'syncs', time: 'finished_at', keptForMs: day, atOnce: 5 } as const;
    await expect(removeOld(until, old)).rejects.toThrow('This operation was aborted');
    expect((await names('syncs', 'id')).filter((id) => /^\d+$/.test(id))).toHaveLength(7);
  });
});
