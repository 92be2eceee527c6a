import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { createPostgresDatabase, postgresAt, postgresServer } from '../../support/databases.ts';
import { startTestService } from '../../support/running-service.ts';
import { locksOf } from '../http/shared-service.ts';

const rowsInTable = 50_000;

test.skipIf(postgresServer === undefined)(
  'statements that were planned for empty tables read few rows of full ones (needs TEST_DATABASE_URL)',
  async () => {
    const { url, remove } = await createPostgresDatabase(postgresServer ?? '');
    onTestFinished(remove);
    const service = await startTestService(postgresAt(url));
    onTestFinished(service.stop);
    const { secret } = await service.token();
    const id = await service.workspace();
    const { take, release } = locksOf(service, id, secret);
    const takeAndRelease = async (): Promise<void> => {
      await take('a');
      await release('a');
    };
    const { storage } = service;
    await sql`vacuum analyze`.execute(storage.read);
    // PostgreSQL keeps the plan of a statement after its first five executions.
    for (let round = 0; round < 20; round += 1) await takeAndRelease();
    const planned = sql`select name from pg_prepared_statements where statement like '%$1%'`;
    expect((await planned.execute(storage.read)).rows.length).toBeGreaterThan(3);
    await storage.commit('global', async (db) => {
      await sql`insert into locks (workspace_id, path, id, owner, acquired_at, expires_at, fence)
        select ${id}, 'b/' || number, 'lock_' || number, 'ada', 1, 8000000000000, number
        from generate_series(1, ${rowsInTable}::integer) as number`.execute(db);
    });
    const counted = async () => {
      const { rows } = await sql<{ read: number; inserted: number }>`select sum(seq_tup_read) as read,
        sum(n_tup_ins) as inserted from pg_stat_user_tables where relname = 'locks'`.execute(storage.read);
      return { read: Number(rows[0]?.read), inserted: Number(rows[0]?.inserted) };
    };
    await expect.poll(async () => (await counted()).inserted, { timeout: 20_000 }).toBeGreaterThanOrEqual(rowsInTable);
    const before = await counted();
    // The server counts with a delay, and the reads of a transaction together with its inserts.
    const insertedAfterMore = async () => {
      await takeAndRelease();
      return (await counted()).inserted;
    };
    await expect.poll(insertedAfterMore, { timeout: 20_000 }).toBeGreaterThan(before.inserted);
    expect((await counted()).read - before.read).toBeLessThan(rowsInTable);
  },
);
