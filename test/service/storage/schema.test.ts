import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { openPostgres } from '../../../src/service/storage/postgres.ts';
import { OtherSchemaError, schemaVersion } from '../../../src/service/storage/schema.ts';
import { openSqlite } from '../../../src/service/storage/sqlite.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { createPostgresDatabase, postgresServer, temporaryDataFolder } from '../../support/databases.ts';

type Open = () => Promise<Storage>;

async function emptySqlite(): Promise<Open> {
  const { folder, remove } = await temporaryDataFolder();
  onTestFinished(remove);
  return () => openSqlite({ folder });
}

async function emptyPostgres(): Promise<Open> {
  const { url, remove } = await createPostgresDatabase(postgresServer ?? '');
  onTestFinished(remove);
  return () => openPostgres({ url, onIdleError: () => undefined });
}

test.each([
  ['SQLite', emptySqlite] as const,
  ...(postgresServer === undefined ? [] : [['PostgreSQL', emptyPostgres] as const]),
])('a database with the tables of another version is refused on %s', async (_, create) => {
  const open = await create();
  const storage = await open();
  await storage.commit('global', (db) => sql`update schema_version set version = 9999`.execute(db));
  await storage.close();
  await expect(open()).rejects.toThrow(OtherSchemaError);
  await expect(open()).rejects.toThrow(`its schema is 9999, this version needs ${schemaVersion}`);
});

test.runIf(postgresServer !== undefined)(
  'only one of the instances that start at once creates the tables',
  async () => {
    const open = await emptyPostgres();
    for (const storage of await Promise.all(Array.from({ length: 4 }, open))) await storage.close();
  },
);
