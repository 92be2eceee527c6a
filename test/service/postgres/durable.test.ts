import { sql } from 'kysely';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { openPostgres } from '../../../src/service/storage/postgres.ts';
import { createPostgresDatabase, postgresServer } from '../../support/databases.ts';

test.skipIf(postgresServer === undefined)(
  'a change is on disk when it is answered, also where the database would not wait for that (needs TEST_DATABASE_URL)',
  async () => {
    const database = await createPostgresDatabase(postgresServer ?? '');
    onTestFinished(() => database.remove());
    const { pathname } = new URL(database.url);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`alter database ${pathname.slice(1)} set synchronous_commit = off`);
    await client.end();

    const storage = await openPostgres({ url: database.url, onIdleError: () => undefined });
    try {
      const setting = sql<{ value: string }>`select current_setting('synchronous_commit') as value`;
      expect((await setting.execute(storage.read)).rows).toEqual([{ value: 'off' }]);
      expect((await storage.commit('global', (db) => setting.execute(db))).rows).toEqual([{ value: 'on' }]);
    } finally {
      await storage.close();
    }
  },
);
