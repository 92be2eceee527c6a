import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openPostgres } from '../../src/service/storage/postgres.ts';
import { databaseFile, openSqlite } from '../../src/service/storage/sqlite.ts';
import type { Storage } from '../../src/service/storage/storage.ts';

export interface TestDatabase {
  readonly storage: Storage;
  remove(): Promise<void>;
}

export interface DatabaseKind {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** Opens an empty database for one test. */
  open(): Promise<TestDatabase>;
}

export async function temporaryDataFolder(): Promise<{ readonly folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-service-'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }) };
}

/** For tests that do not depend on the database. */
export const sqlite: DatabaseKind = {
  name: 'SQLite',
  async open() {
    const { folder, remove } = await temporaryDataFolder();
    await writeFile(databaseFile(folder), await copyOfEmpty());
    const storage = await openSqlite({ folder });
    return {
      storage,
      async remove() {
        await storage.close();
        await remove();
      },
    };
  },
};

declare global {
  /** An empty database with all tables, which take longer to create than to copy. */
  var emptySqlite: Promise<Buffer> | undefined;
}

function copyOfEmpty(): Promise<Buffer> {
  globalThis.emptySqlite ??= createEmptySqlite();
  return globalThis.emptySqlite;
}

async function createEmptySqlite(): Promise<Buffer> {
  const { folder, remove } = await temporaryDataFolder();
  const storage = await openSqlite({ folder });
  await storage.close();
  const database = await readFile(databaseFile(folder));
  await remove();
  return database;
}

export async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Creates a database on a server, and returns its URL. */
export async function createPostgresDatabase(
  server: string,
): Promise<{ readonly url: string; remove(): Promise<void> }> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await onServer(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, remove: () => onServer(server, `drop database ${name} with (force)`) };
}

/** An existing database that is kept: for several instances, each with its own connections. */
export const postgresAt = (url: string): DatabaseKind => ({
  name: 'PostgreSQL',
  async open() {
    const storage = await openPostgres({ url, onIdleError: () => undefined });
    return { storage, remove: storage.close };
  },
});

const postgres = (server: string): DatabaseKind => ({
  name: 'PostgreSQL',
  async open() {
    const { url, remove } = await createPostgresDatabase(server);
    const { storage } = await postgresAt(url)
      .open()
      .catch(async (error: unknown) => {
        await remove();
        throw error;
      });
    return {
      storage,
      async remove() {
        await storage.close();
        await remove();
      },
    };
  },
});

/** The URL of a PostgreSQL server. Tests that need one are skipped if it is undefined. */
export const postgresServer = process.env['TEST_DATABASE_URL'];

export const databaseKinds: readonly DatabaseKind[] = [
  sqlite,
  ...(postgresServer === undefined ? [] : [postgres(postgresServer)]),
];
