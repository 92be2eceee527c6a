import { randomUUID } from 'node:crypto';
import { existsSync, openAsBlob } from 'node:fs';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { PGliteDialect } from 'kysely';
import { openPostgresDialect } from '../../src/service/storage/postgres.ts';
import type { Storage } from '../../src/service/storage/storage.ts';

/** Opens an empty database in PostgreSQL in WebAssembly, for machines without a server. */
export async function openPGlite(
  onCommit?: (changes: number) => void,
): Promise<{ readonly storage: Storage; remove(): Promise<void> }> {
  const { server, migrated } = idle.pop() ?? { server: await startPGlite() };
  const storage = await openPostgresDialect(lentPGlite(server), pgliteBroadcast(server), onCommit);
  const fresh = migrated ?? (await readMigrated(server));
  return {
    storage,
    async remove() {
      await storage.close();
      idle.push(await reset(server, fresh));
    },
  };
}

/** An empty server that no other test uses. `giveBack` empties it for the next test. */
export async function borrowPGlite(): Promise<{ readonly server: PGlite; giveBack(): Promise<void> }> {
  const { server, migrated } = idle.pop() ?? { server: await startPGlite() };
  if (migrated !== undefined) await empty(server);
  return { server, giveBack: async () => void idle.push(await empty(server)) };
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

/** The database directly after its migrations, which take longer than most tests. */
interface Migrated {
  readonly schema: string;
  /** The rows of each table, as JSON. */
  readonly rows: ReadonlyMap<string, string>;
}

interface Idle {
  readonly server: PGlite;
  /** Undefined if it is empty. */
  readonly migrated?: Migrated;
}

declare global {
  /** Starting one takes longer than most tests; resetting one is fast. Module state would be lost with the test file. */
  var idlePGlites: Idle[] | undefined;
}

globalThis.idlePGlites ??= [];
const idle = globalThis.idlePGlites;

async function readMigrated(server: PGlite): Promise<Migrated> {
  const tables = await textsOf(server, `select tablename as text from pg_tables where schemaname = 'public'`);
  const rows = new Map<string, string>();
  for (const table of tables) {
    const [all = '[]'] = await textsOf(server, `select coalesce(json_agg(t), '[]')::text as text from ${table} t`);
    rows.set(table, all);
  }
  return { schema: await schemaOf(server), rows };
}

/** Returns the database to its state after the migrations, or empties it if the test has changed its schema. */
async function reset(server: PGlite, migrated: Migrated): Promise<Idle> {
  if ((await schemaOf(server)) !== migrated.schema) return empty(server);
  const inserts = [...migrated.rows]
    .filter(([, rows]) => rows !== '[]')
    .map(([table, rows]) => `insert into ${table} select * from json_populate_recordset(null::${table}, '${rows}');`);
  // Without triggers, which let the audit only grow.
  await server.exec(`set session_replication_role = replica;
    truncate ${[...migrated.rows.keys()].join(', ')} restart identity;
    delete from pg_statistic using pg_class
      where starelid = pg_class.oid and relnamespace = 'public'::regnamespace;
    ${inserts.join('\n')}`);
  await server.exec('discard all');
  return { server, migrated };
}

async function empty(server: PGlite): Promise<Idle> {
  await server.exec('drop schema public cascade; create schema public');
  await server.exec('discard all');
  return { server };
}

/** Describes tables with their columns, indexes, triggers and functions. */
const schemaOf = async (server: PGlite): Promise<string> =>
  (
    await textsOf(
      server,
      `select indexdef as text from pg_indexes where schemaname = 'public'
      union all select concat_ws(' ', attrelid::regclass, attname, atttypid::regtype, attnotnull, atthasdef)
        from pg_attribute join pg_class on attrelid = pg_class.oid
        where relnamespace = 'public'::regnamespace and attnum > 0
      union all select pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace
      union all select pg_get_triggerdef(oid) || tgenabled::text from pg_trigger where not tgisinternal
      union all select prosrc from pg_proc where pronamespace = 'public'::regnamespace`,
    )
  )
    .toSorted()
    .join('\n');

async function textsOf(server: PGlite, query: string): Promise<readonly string[]> {
  const { rows } = await server.query<{ readonly text: string }>(query);
  return rows.map(({ text }) => text);
}

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
