import { open } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { databaseFile, openSqlite } from '../../../src/service/storage/sqlite.ts';
import { checkNewestRows } from '../../../src/service/storage/unavailable.ts';
import { databaseKinds } from '../../support/databases.ts';
import { startTestService } from '../../support/running-service.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { storeLocks, storeWorkspace } from '../../support/stored-rows.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { locksOf } from '../http/shared-service.ts';
import { planOf, type RecordedQuery, recording } from './changed-queries.ts';

const pageSize = 4_096;

/** A service whose database has overwritten pages, as a failing disk may leave them. */
async function serviceWithDamage(isDamaged: (page: { readonly number: number; readonly of: string }) => boolean) {
  const folder = temporaryFolder();
  const before = await openSqlite({ folder });
  await storeWorkspace(before, { id: 'game' });
  const paths = Array.from({ length: 500 }, (_, index) => `Content/${'long '.repeat(20)}${index}.uasset`);
  await storeLocks(before, ...paths.map((path) => ({ workspace_id: 'game', path })));
  await before.close();
  const file = databaseFile(folder);
  const database = new DatabaseSync(file);
  const pages = database.prepare('select pageno as number, name as "of" from dbstat').all();
  database.close();
  const handle = await open(file, 'r+');
  for (const { number, of } of pages) {
    const page = { number: Number(number), of: String(of) };
    if (isDamaged(page)) await handle.write(Buffer.alloc(pageSize, 0xa5), 0, pageSize, (page.number - 1) * pageSize);
  }
  await handle.close();
  const storage = await openSqlite({ folder });
  const service = await startTestService({ name: 'SQLite', open: async () => ({ storage, remove: storage.close }) });
  onTestFinished(service.stop);
  return service;
}

const readiness = ({ ask }: Pick<Awaited<ReturnType<typeof serviceWithDamage>>, 'ask'>) => ask('GET', '/readyz');

test('a service is not ready if a table or index that every lock needs is damaged', async () => {
  const service = await serviceWithDamage(({ of }) => of === 'locks' || of === 'expiring_locks');
  const { status, body } = await readiness(service);
  expect([status, body.detail]).toEqual([503, expect.stringContaining('the database is damaged: restore a backup')]);
  expect((await service.ask('GET', '/healthz')).status).toBe(200);
});

test('a service is no longer ready once a request has found damage', async () => {
  const service = await serviceWithDamage(({ of }) => of === 'sqlite_autoindex_locks_1');
  expect((await readiness(service)).status).toBe(200);
  const { secret } = await service.token();
  expect((await locksOf(service, 'game', secret).take('Content/new.uasset')).status).toBe(503);
  expect((await readiness(service)).status).toBe(503);
});

describe.each(databaseKinds)('the check of a storage on $name', (kind) => {
  const storage = sharedStorage(kind, { workspaces: ['game'] });

  test('reads one row of an index of each table, however many rows there are', async () => {
    const queries: RecordedQuery[] = [];
    await checkNewestRows(recording(storage.read, queries));
    expect(queries).toHaveLength(1);
    // PostgreSQL sorts small tables instead of using an index.
    const plans = storage.dialect === 'postgres' ? [] : queries.map((query) => planOf(storage, query));
    for (const plan of await Promise.all(plans)) expect(plan).not.toMatch(/TEMP B-TREE|SCAN \w+$/m);
  });

  test('passes while all tables are readable, and fails if one is not', async () => {
    await storage.check();
    await storeLocks(storage, { workspace_id: 'game', path: 'a' });
    await storage.check();
    await storage.commit('global', (db) => sql`alter table lock_history rename to gone`.execute(db));
    await expect(storage.check()).rejects.toThrow('lock_history');
  });
});
