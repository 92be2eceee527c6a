import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { PGliteDialect } from 'kysely';
import pg from 'pg';
import { openPostgres, openPostgresDialect } from '../../src/service/storage/postgres.ts';
import { openSqlite } from '../../src/service/storage/sqlite.ts';
import type { Storage } from '../../src/service/storage/storage.ts';

export interface TestDatabase {
  readonly storage: Storage;
  remove(): Promise<void>;
}

export interface DatabaseKind {
  readonly name: 'SQLite' | 'PostgreSQL' | 'PGlite';
  /** An empty database of its own. */
  open(onCommit?: (changes: number) => void): Promise<TestDatabase>;
}

export async function temporaryDataFolder(): Promise<{ readonly folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-service-'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }) };
}

const sqlite: DatabaseKind = {
  name: 'SQLite',
  async open(onCommit = () => undefined) {
    const { folder, remove } = await temporaryDataFolder();
    const storage = await openSqlite({ folder, onCommit });
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
  /** To start one costs more than most tests; to empty one, next to nothing. A module would forget it with its test file. */
  var idlePGlites: PGlite[] | undefined;
}

globalThis.idlePGlites ??= [];
const idle = globalThis.idlePGlites;

/** LISTEN and NOTIFY of the only connection there is. */
export function pgliteBroadcast(server: PGlite): Parameters<typeof openPostgresDialect>[1] {
  return {
    async send(message) {
      await server.query('select pg_notify($1, $2)', ['messages', message]);
    },
    listen(onMessage) {
      const listening = server.listen('messages', onMessage);
      return () => void listening.then((unlisten) => unlisten());
    },
    close: async () => undefined,
  };
}

const pglite: DatabaseKind = {
  name: 'PGlite',
  async open(onCommit) {
    const server = idle.pop() ?? new PGlite();
    // The storage that uses it ends before it does.
    const lent = new PGliteDialect({
      pglite: {
        waitReady: server.waitReady,
        get ready() {
          return server.ready;
        },
        closed: false,
        query: (statement, parameters, options) => server.query(statement, parameters, options),
        transaction: (work) => server.transaction(work),
        close: async () => undefined,
      },
    });
    const storage = await openPostgresDialect(lent, pgliteBroadcast(server), onCommit);
    return {
      storage,
      async remove() {
        await storage.close();
        await server.exec('drop schema public cascade; create schema public');
        await server.exec('discard all');
        idle.push(server);
      },
    };
  },
};

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A database of its own on a server, and its address. */
export async function createPostgresDatabase(
  server: string,
): Promise<{ readonly url: string; remove(): Promise<void> }> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await onServer(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, remove: () => onServer(server, `drop database ${name} with (force)`) };
}

const postgres = (server: string): DatabaseKind => ({
  name: 'PostgreSQL',
  async open(onCommit = () => undefined) {
    const { url, remove } = await createPostgresDatabase(server);
    const storage = await openPostgres({ url, onCommit, onIdleError: () => undefined });
    return {
      storage,
      async remove() {
        await storage.close();
        await remove();
      },
    };
  },
});

/** Where tests of what only a real PostgreSQL can do find one; they are left out without. */
export const postgresServer = process.env['TEST_DATABASE_URL'];

/** For tests of what goes through the database and is not about it. */
export const realDatabaseKinds: readonly DatabaseKind[] = [
  sqlite,
  ...(postgresServer === undefined ? [] : [postgres(postgresServer)]),
];

/** What everything about the database is tested on: without a server, PGlite stands in for it, which costs more time. */
export const databaseKinds: readonly DatabaseKind[] =
  postgresServer === undefined ? [sqlite, pglite] : realDatabaseKinds;
