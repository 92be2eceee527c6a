import { randomUUID } from 'node:crypto';
import { existsSync, openAsBlob } from 'node:fs';
import { mkdir, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
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
  /** Opens an empty database for one test. */
  open(onCommit?: (changes: number) => void): Promise<TestDatabase>;
}

export async function temporaryDataFolder(): Promise<{ readonly folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-service-'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }) };
}

/** For tests that do not depend on the database. */
export const sqlite: DatabaseKind = {
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
  /** Starting one takes longer than most tests; emptying one is fast. Module state would be lost with the test file. */
  var idlePGlites: PGlite[] | undefined;
}

globalThis.idlePGlites ??= [];
const idle = globalThis.idlePGlites;

/** The empty cluster of PostgreSQL. Creating it takes seconds of processor time, reading it a fraction of one. */
const emptyCluster = fileURLToPath(new URL('../../node_modules/.cache/pglite-empty-cluster.tar', import.meta.url));

async function startPGlite(): Promise<PGlite> {
  const marker = `${emptyCluster}.being-made`;
  await mkdir(dirname(emptyCluster), { recursive: true });
  // One worker creates it and the others wait, with a timeout in case that worker was killed.
  for (let waitedMs = 0; !existsSync(emptyCluster) && waitedMs < 60_000; waitedMs += 100) {
    const marked = await open(marker, 'wx').catch(() => undefined);
    if (marked === undefined) {
      await setTimeout(100);
      continue;
    }
    await marked.close();
    try {
      const server = await PGlite.create();
      // Another worker may have stopped waiting and created one, too. Each writes its own file; the rename is atomic.
      const made = `${emptyCluster}.${randomUUID()}`;
      await writeFile(made, (await server.dumpDataDir('none')).stream());
      await rename(made, emptyCluster);
      return server;
    } finally {
      await rm(marker, { force: true });
    }
  }
  if (!existsSync(emptyCluster)) {
    await rm(marker, { force: true });
    return PGlite.create();
  }
  return PGlite.create({ loadDataDir: await openAsBlob(emptyCluster) });
}

/** A server that no other test uses. `giveBack` empties it for the next test. */
export async function borrowPGlite(): Promise<{ readonly server: PGlite; giveBack(): Promise<void> }> {
  const server = idle.pop() ?? (await startPGlite());
  return {
    server,
    async giveBack() {
      await server.exec('drop schema public cascade; create schema public');
      await server.exec('discard all');
      idle.push(server);
    },
  };
}

/** A dialect for a borrowed server, which outlives the users of the dialect. */
export const lentPGlite = (server: PGlite): PGliteDialect =>
  new PGliteDialect({
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

/** LISTEN and NOTIFY on the only connection. */
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
    const { server, giveBack } = await borrowPGlite();
    const storage = await openPostgresDialect(lentPGlite(server), pgliteBroadcast(server), onCommit);
    return {
      storage,
      async remove() {
        await storage.close();
        await giveBack();
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
  async open(onCommit = () => undefined) {
    const storage = await openPostgres({ url, onCommit, onIdleError: () => undefined });
    return { storage, remove: storage.close };
  },
});

const postgres = (server: string): DatabaseKind => ({
  name: 'PostgreSQL',
  async open(onCommit) {
    const { url, remove } = await createPostgresDatabase(server);
    const { storage } = await postgresAt(url).open(onCommit);
    return {
      storage,
      async remove() {
        await storage.close();
        await remove();
      },
    };
  },
});

/** The URL of a real PostgreSQL server. Tests that need one are skipped if it is undefined. */
export const postgresServer = process.env['TEST_DATABASE_URL'];

/** For tests that use the database, but are not about it. */
export const realDatabaseKinds: readonly DatabaseKind[] = [
  sqlite,
  ...(postgresServer === undefined ? [] : [postgres(postgresServer)]),
];

/** For all tests about the database: without a server, PGlite replaces PostgreSQL, which takes more time. */
export const databaseKinds: readonly DatabaseKind[] =
  postgresServer === undefined ? [sqlite, pglite] : realDatabaseKinds;
