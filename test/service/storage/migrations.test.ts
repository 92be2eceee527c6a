import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { NewerSchemaError, schemaVersion } from '../../../src/service/storage/migrate.ts';
import { openPostgres } from '../../../src/service/storage/postgres.ts';
import { openSqlite } from '../../../src/service/storage/sqlite.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { createPostgresDatabase, postgresServer, temporaryDataFolder } from '../../support/databases.ts';
import { storeWorkspace } from '../../support/stored-rows.ts';
import { appendMigration } from './append-migration.ts';

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

const kinds = [
  ['SQLite', emptySqlite] as const,
  ...(postgresServer === undefined ? [] : [['PostgreSQL', emptyPostgres] as const]),
];

/** Creates a database with a workspace, as this version leaves it. */
async function createDatabase(open: Open): Promise<void> {
  const storage = await open();
  await storeWorkspace(storage, { id: 'game' });
  await storage.close();
}

describe.each(kinds)('migrations on %s', (_, create) => {
  async function workspacesOf(open: Open): Promise<readonly unknown[]> {
    const storage = await open();
    const rows = await storage.read.selectFrom('workspaces').selectAll().execute();
    await storage.close();
    return rows;
  }

  test('run once, in order, and keep the rows', async () => {
    const open = await create();
    await createDatabase(open);
    appendMigration('create table moods (name text)', `insert into moods (name) values ('calm')`);
    appendMigration(
      'alter table workspaces add column mood text',
      'update workspaces set mood = (select name from moods)',
    );
    await (await open()).close();
    expect(await workspacesOf(open)).toMatchObject([{ id: 'game', mood: 'calm' }]);
  });

  test('are undone together if one fails, and run at the next start', async () => {
    const open = await create();
    await createDatabase(open);
    appendMigration('alter table workspaces add column mood text');
    const repair = appendMigration('alter table workspaces add column weather text', 'insert into nowhere values (1)');
    await expect(open()).rejects.toThrow(/nowhere/);
    repair();
    appendMigration('alter table workspaces add column weather text');
    expect(await workspacesOf(open)).toMatchObject([{ id: 'game', mood: null, weather: null }]);
  });

  test('make the database unusable for the version without them, which changes nothing', async () => {
    const open = await create();
    await createDatabase(open);
    const remove = appendMigration('alter table workspaces add column mood text');
    await (await open()).close();
    remove();
    await expect(open()).rejects.toThrow(NewerSchemaError);
    appendMigration('alter table workspaces add column mood text');
    expect(await workspacesOf(open)).toMatchObject([{ id: 'game', mood: null }]);
  });

  test('do not run on a new database, which gets the newest schema', async () => {
    const open = await create();
    // A column that new databases have.
    appendMigration('alter table workspaces add column remote text');
    const storage = await open();
    onTestFinished(storage.close);
    const { rows } = await sql`select version from schema_version`.execute(storage.read);
    expect(rows).toEqual([{ version: schemaVersion() }]);
  });
});

test.runIf(postgresServer !== undefined)('only one of the instances that start at once migrates', async () => {
  const open = await emptyPostgres();
  await createDatabase(open);
  // Fails if it runs again.
  appendMigration('create table moods (name text)', 'select pg_sleep(0.2)');
  for (const storage of await Promise.all(Array.from({ length: 4 }, open))) await storage.close();
});
