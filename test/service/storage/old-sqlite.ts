import { DatabaseSync } from 'node:sqlite';
import { Kysely, SqliteDialect } from 'kysely';
import { migrate } from '../../../src/service/storage/migrate.ts';
import { databaseFile } from '../../../src/service/storage/sqlite.ts';
import type { Tables } from '../../../src/service/storage/tables.ts';

/** Creates the empty database of an earlier version in an existing folder. */
export async function createOldSqlite(folder: string, schema: number): Promise<Kysely<Tables>> {
  const file = new DatabaseSync(databaseFile(folder));
  // The minimal driver interface of Kysely.
  const database = {
    prepare(text: string) {
      const statement = file.prepare(text);
      return {
        reader: statement.columns().length > 0,
        all: () => statement.all(),
        run: () => statement.run(),
        iterate: () => statement.iterate(),
      };
    },
    close: () => file.close(),
  };
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
  await migrate(db, 'sqlite', schema);
  return db;
}
