import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DatabaseConnection, Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely';
import { groupCommits } from './commit-group.ts';
import { makeFolder } from './make-folder.ts';
import { createTables } from './schema.ts';
import type { Broadcast, Storage } from './storage.ts';
import type { Tables } from './tables.ts';
import { withClock } from './timestamp.ts';
import { checkNewestRows, isBusy, sqliteCode } from './unavailable.ts';

/**
 * Number of pages in the write-ahead log before they are copied into the database, which costs two more flushes.
 * SQLite's default, 1,000 pages, is enough for fewer than 200 locks. A page that changes several times before that is
 * copied once.
 */
const checkpointAfter = 4_000;

/**
 * After a transaction with thousands of rows, a later commit does the checkpoint, so that the requests that waited for
 * the transaction come first.
 */
const commitsUntilCheckpoint = 3;
const longTransactionMs = 20;

/** Enough for the changed pages of such a transaction, which SQLite would otherwise write and read again. */
const writerCacheKiB = 32 * 1_024;

/** A slow reader, such as a backup into a pipe, makes the log larger. Afterwards, it shrinks to this size. */
const maxLogBytes = 16 * 1_024 * 1_024;

export async function openSqlite({ folder }: { readonly folder: string }): Promise<Storage> {
  makeFolder(folder);
  const file = databaseFile(folder);
  // These statements may block, because the service handles no requests until the tables are ready.
  const writing = new DatabaseSync(file, { timeout: busyTimeoutMs });
  chmodSync(file, 0o600);
  // If two processes switch a new database to this mode, SQLite fails one of them at once, despite the timeout.
  await retryBusy(() => writing.exec('pragma journal_mode = wal'));
  writing.exec(
    `pragma synchronous = full; pragma journal_size_limit = ${maxLogBytes};
    pragma wal_autocheckpoint = ${checkpointAfter}; pragma cache_size = -${writerCacheKiB}`,
  );
  let damage: unknown;
  const onDamage = (error: unknown): void => {
    damage = error;
  };
  const writer = openKysely(writing, onDamage, (connection) => postponeCheckpoints(connection, writing));
  await writer.transaction().execute((transaction) => createTables(transaction, 'sqlite'));
  writing.exec('pragma busy_timeout = 0');

  // A separate connection, because the writer's own connection also sees changes that are not on disk yet.
  const reading = new DatabaseSync(file, { timeout: 0, readOnly: true });
  const reader = openKysely(reading, onDamage);

  // SQLite has one writer, so changes of all scopes share its groups. SQLite itself excludes other processes.
  const { otherCommits, ...grouped } = groupCommits(writer, {
    queueOf: () => '',
    maxParallel: 1,
    begin: async (transaction) => transaction,
  });
  const dataVersion = dataVersionOf(writing);
  return {
    dialect: 'sqlite',
    read: reader,
    ...grouped,
    rebuild: (change) => grouped.commit('global', change),
    claim: (work) => grouped.commit('global', work),
    broadcast: broadcastOf(writing, dataVersion),
    accessVersion() {
      const version = dataVersion();
      // A new object differs from every other version, so that the database is queried, which reports the error.
      return version === undefined ? {} : `${version} ${otherCommits()}`;
    },
    async check() {
      if (damage !== undefined) throw damage;
      await checkNewestRows(reader);
    },
    async close() {
      await reader.destroy();
      await writer.destroy();
    },
  };
}

export const databaseFile = (folder: string): string => join(folder, 'service.db');

const openKysely = (
  database: DatabaseSync,
  onDamage: (error: unknown) => void,
  prepare: (connection: DatabaseConnection) => void = () => undefined,
): Kysely<Tables> =>
  new Kysely({
    dialect: withClock(
      new SqliteDialect({
        database: asKyselyDatabase(database),
        async onCreateConnection(connection) {
          superviseStatements(connection, onDamage);
          prepare(connection);
        },
      }),
      "cast(round(unixepoch('subsec') * 1000) as integer)",
    ),
  });

/** Transactions during the postponement do not extend it: on a slow disk, every one may be long. */
function postponeCheckpoints(connection: DatabaseConnection, database: DatabaseSync): void {
  const execute = connection.executeQuery.bind(connection);
  const checkpointAtCommit = (pages: number): void => database.exec(`pragma wal_autocheckpoint = ${pages}`);
  let beganAt = 0;
  let commitsLeft = 0;
  connection.executeQuery = (query, ...more) => {
    if (query.sql === 'begin') beganAt = performance.now();
    if (query.sql === 'commit' && commitsLeft > 0) {
      commitsLeft -= 1;
      if (commitsLeft === 0) checkpointAtCommit(checkpointAfter);
    } else if (query.sql === 'commit' && performance.now() - beganAt > longTransactionMs) {
      commitsLeft = commitsUntilCheckpoint;
      checkpointAtCommit(0);
    }
    return execute(query, ...more);
  };
}

/** More than the distinct statements of the service. Limits only those whose text varies with their parameters. */
const cachedStatements = 500;

/** Adapts node:sqlite to the driver interface of Kysely's SQLite dialect. */
function asKyselyDatabase(database: DatabaseSync): SqliteDatabase {
  const cache = new Map<string, SqliteStatement>();

  function prepare(text: string): SqliteStatement {
    // SQLite fails a deferred transaction at once if it reads first and another process writes before it does.
    const statement: StatementSync = database.prepare(text === 'begin' ? 'begin immediate' : text);
    // Kysely's compiler emits only strings, numbers, bigints, buffers and null for the types in `Tables`.
    const values = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[];
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

const pollMs = 100;

/**
 * `data_version` of the writing connection shows changes of other processes, not own ones, and reading it touches no
 * table (https://www.sqlite.org/pragma.html#pragma_data_version). Undefined if it cannot be read, for example on a
 * failing disk. Read once per turn of the event loop, because each request starts in a turn after its arrival.
 */
function dataVersionOf(writing: DatabaseSync): () => unknown {
  const statement = writing.prepare('pragma data_version');
  let isKnown = false;
  let version: unknown;
  return () => {
    if (isKnown) return version;
    isKnown = true;
    setImmediate(() => {
      isKnown = false;
    });
    try {
      version = statement.get()?.['data_version'];
    } catch {
      version = undefined;
    }
    return version;
  };
}

/** With SQLite, there is a single instance, and only short commands run at the same time. */
const broadcastOf = (writing: DatabaseSync, dataVersion: () => unknown): Broadcast => ({
  send: () => undefined,
  listen(onMessage) {
    let known = dataVersion();
    const timer = setInterval(() => {
      if (!writing.isOpen) return clearInterval(timer);
      const version = dataVersion() ?? known;
      if (version !== known) onMessage(undefined);
      known = version;
    }, pollMs);
    return () => clearInterval(timer);
  },
});

/** Maximum time that a statement waits for another process, such as a command next to a running service. */
const busyTimeoutMs = 10_000;

/** The longest pause before the next attempt. Pauses are random, so that two processes do not stay in step. */
export const maxBusyPauseMs = 15;

/** SQLITE_CORRUPT and SQLITE_NOTADB: https://www.sqlite.org/rescode.html */
const damaged = [11, 26];

/**
 * Makes statements wait for other processes without blocking this one, because SQLite itself would block the event
 * loop. A busy statement has had no effect, and only `begin immediate` and reads outside of transactions can conflict.
 * Reports damage that a statement finds: no check reads all pages, and damage does not go away.
 */
function superviseStatements(connection: DatabaseConnection, onDamage: (error: unknown) => void): void {
  const execute = connection.executeQuery.bind(connection);
  connection.executeQuery = async (...call) => {
    try {
      try {
        return await execute(...call);
      } catch (error) {
        if (!isBusy(error)) throw error;
        return await retryBusy(() => execute(...call));
      }
    } catch (error) {
      if (damaged.includes(sqliteCode(error) ?? 0)) onDamage(error);
      throw error;
    }
  };
}

async function retryBusy<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  const until = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error;
      await sleep(1 + Math.random() * (maxBusyPauseMs - 1));
    }
  }
}
