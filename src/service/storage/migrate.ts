import { type Kysely, sql } from 'kysely';
import type { Dialect } from './storage.ts';
import { indexes, type Tables, tables } from './tables.ts';

/** The message is a sentence for users. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';
}

/** Whether the tables of a PostgreSQL database have the schema of this version. Waits for no other transaction. */
export async function isMigrated(db: Kysely<Tables>): Promise<boolean> {
  const { rows: found } = await sql<{ name: unknown }>`select to_regclass('schema_version') as name`.execute(db);
  if (found[0]?.name === null) return false;
  const { rows } = await sql<{ version: number }>`select version from schema_version`.execute(db);
  return rows[0]?.version === schemaVersion();
}

/** Migrates the tables to this schema. Must run in a transaction without other writers. */
export async function migrate(db: Kysely<Tables>, dialect: Dialect): Promise<void> {
  const to = schemaVersion();
  await sql`create table if not exists schema_version (version integer not null)`.execute(db);
  const { rows } = await sql<{ version: number }>`select version from schema_version`.execute(db);
  const version = rows[0]?.version ?? 0;
  if (version > to) {
    throw new NewerSchemaError(
      `The database was created by a newer version of the service (its schema is ${version}, this version supports ${to}). Start that version, or restore a backup.`,
    );
  }
  if (version === to) return;
  const steps = version === 0 ? [newest] : migrations.slice(version - 1);
  for (const statement of steps.flatMap((step) => step(dialect))) await sql.raw(statement).execute(db);
  await sql`delete from schema_version`.execute(db);
  await sql`insert into schema_version (version) values (${sql.lit(to)})`.execute(db);
}

type Statements = (dialect: Dialect) => readonly string[];

/**
 * Each is applied once, in this order, to tables of earlier versions. New databases get the newest tables directly. A
 * released migration never changes: append a new one, with the same change to `tables`.
 */
export const migrations: readonly Statements[] = [];

/** Number of the schema of this version. */
export const schemaVersion = (): number => 1 + migrations.length;

/** SQL of the column types that differ between the databases. */
const types: Readonly<Record<Dialect, Readonly<Record<'bytes' | 'serial', string>>>> = {
  sqlite: { bytes: 'text', serial: 'integer primary key autoincrement' },
  postgres: { bytes: 'text collate "C"', serial: 'bigint generated always as identity primary key' },
};

function newest(dialect: Dialect): readonly string[] {
  const { bytes, serial } = types[dialect];
  const created = Object.entries(tables).map(
    ([name, columns]) =>
      `create table ${name} (${columns.replaceAll(/ bytes\b/g, ` ${bytes}`).replace(' serial', ` ${serial}`)})`,
  );
  return [...created, ...indexes, `insert into fences (workspace_id, value) values ('', 0)`];
}
