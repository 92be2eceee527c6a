import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement, sql } from 'kysely';
import { groupCommits } from './commit-group.ts';
import { makeFolder } from './make-folder.ts';
import { migrate } from './migrations.ts';
import { createSqliteBroadcast } from './sqlite-broadcast.ts';
import type { Storage } from './storage.ts';
import type { Tables } from './tables.ts';

/** How long a statement waits for another process, such as a command beside a running service. */
const busyTimeout = 10_000;

/** More than the service has different statements; it only bounds those whose text varies with their parameters. */
const cachedStatements = 500;

/** What Kysely's SQLite dialect asks of a driver, on top of Node's own. */
function asKyselyDatabase(database: DatabaseSync): SqliteDatabase {
  const cache = new Map<string, SqliteStatement>();

  function prepare(text: string): SqliteStatement {
    // A deferred transaction that reads first cannot write after another process has: SQLite refuses it at once.
    const statement: StatementSync = database.prepare(text === 'begin' ? 'begin immediate' : text);
    // Kysely's compiler emits only strings, numbers, bigints, buffers and null for the types in `Tables`.
    const values = (parameters: readonly unknown[]) => parameters as SQLInputValue[];
    return {
      reader: statement.columns().length > 0,
      all: (parameters) => statement.all(...values(parameters)),
      run: (parameters) => statement.run(...values(parameters)),
      iterate: (parameters) => statement.iterate(...values(parameters)),
    };
  }

  return {
    prepare(text) {
      const known = cache.get(text);
      if (known !== undefined) return known;
      const prepared = prepare(text);
      if (cache.size >= cachedStatements) cache.clear();
      cache.set(text, prepared);
      return prepared;
    },
    close() {
      cache.clear();
      database.close();
    },
  };
}

export const databaseFile = (folder: string): string => join(folder, 'service.db');

export interface SqliteOptions {
  readonly folder: string;
  readonly onCommit?: (changes: number) => void;
}

export async function openSqlite({ folder, onCommit = () => undefined }: SqliteOptions): Promise<Storage> {
  makeFolder(folder);
  const file = databaseFile(folder);
  const writing = new DatabaseSync(file, { timeout: busyTimeout });
  chmodSync(file, 0o600);
  writing.exec('pragma journal_mode = wal');
  writing.exec('pragma synchronous = full');
  const writer = new Kysely<Tables>({ dialect: new SqliteDialect({ database: asKyselyDatabase(writing) }) });
  await writer.transaction().execute((transaction) => migrate(transaction, 'sqlite'));

  // A connection of its own: one that shares the writer's would see changes that are not on disk yet.
  const reading = new DatabaseSync(file, { timeout: busyTimeout, readOnly: true });
  const reader = new Kysely<Tables>({ dialect: new SqliteDialect({ database: asKyselyDatabase(reading) }) });

  // SQLite has one writer: changes of all scopes share its groups, and it keeps other processes out by itself.
  const grouped = groupCommits(writer, {
    queueOf: () => '',
    maxParallel: 1,
    begin: async () => undefined,
    onCommit,
  });
  return {
    dialect: 'sqlite',
    read: reader,
    now: sql<number>`cast(round(unixepoch('subsec') * 1000) as integer)`,
    ...grouped,
    claim: (work) => grouped.commit('global', work),
    broadcast: createSqliteBroadcast(writing),
    async close() {
      await reader.destroy();
      await writer.destroy();
    },
  };
}
