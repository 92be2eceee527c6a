import { type Kysely, sql } from 'kysely';
import type { Dialect } from './storage.ts';
import { indexes, type Tables, tables } from './tables.ts';

/** A release that changes the tables of an earlier one has the next number, and migrates them. */
export const schemaVersion = 1;

/** The message is a sentence for users. */
export class OtherSchemaError extends Error {
  override readonly name = 'OtherSchemaError';
}

/** Whether a PostgreSQL database has the tables of this version. Waits for no other transaction. */
export async function hasTables(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ name: unknown }>`select to_regclass('schema_version') as name`.execute(db);
  return rows[0]?.name !== null && (await versionIn(db)) === schemaVersion;
}

/** Creates the tables of an empty database. Must run in a transaction without other writers. */
export async function createTables(db: Kysely<Tables>, dialect: Dialect): Promise<void> {
  await sql`create table if not exists schema_version (version integer not null)`.execute(db);
  const version = await versionIn(db);
  if (version === schemaVersion) return;
  if (version !== undefined) {
    throw new OtherSchemaError(
      `Another version of the service created the database (its schema is ${version}, this version needs ${schemaVersion}). Start that version, or restore a backup.`,
    );
  }
  for (const statement of statementsFor(dialect)) await sql.raw(statement).execute(db);
  await sql`insert into schema_version (version) values (${sql.lit(schemaVersion)})`.execute(db);
}

async function versionIn(db: Kysely<Tables>): Promise<number | undefined> {
  const { rows } = await sql<{ version: number }>`select version from schema_version`.execute(db);
  return rows[0]?.version;
}

/** SQL of the column types that differ between the databases. */
const types: Readonly<Record<Dialect, Readonly<Record<'bytes' | 'serial', string>>>> = {
  sqlite: { bytes: 'text', serial: 'integer primary key autoincrement' },
  postgres: { bytes: 'text collate "C"', serial: 'bigint generated always as identity primary key' },
};

function statementsFor(dialect: Dialect): readonly string[] {
  const { bytes, serial } = types[dialect];
  const created = Object.entries(tables).map(
    ([name, columns]) =>
      `create table ${name} (${columns.replaceAll(/ bytes\b/g, ` ${bytes}`).replace(' serial', ` ${serial}`)})`,
  );
  return [...created, ...indexes, `insert into fences (workspace_id, value) values ('', 0)`];
}
