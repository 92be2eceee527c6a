import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { z } from '@hono/zod-openapi';
import { sql } from 'kysely';
import type { Database, Storage } from '../storage/storage.ts';
import { tables } from '../storage/tables.ts';
import { now } from '../storage/timestamp.ts';

export const format = 'workspace-service backup 1';

/**
 * A backup is gzipped JSON, one value per line: the header, then tables, each in several parts. It is complete only
 * with the checksum at the end of the compressed data.
 */
export const headerSchema = z.object({
  format: z.literal(format),
  schema: z.int(),
  /** Version of the service that wrote it. */
  service: z.string(),
  /** Milliseconds since 1970, by the clock of the database. */
  taken_at: z.int().nonnegative(),
});

export type Header = z.infer<typeof headerSchema>;

/** Writes a snapshot of the complete database. The service can run at the same time. */
export const writeBackup = (storage: Storage, service: string, output: Writable) =>
  readSnapshot(storage, async (db) => {
    const { rows } = await sql<{ schema: number; taken_at: number }>`
      select version as schema, ${now} as taken_at from schema_version`.execute(db);
    // The table always has one row.
    const { schema = 0, taken_at = 0 } = rows[0] ?? {};
    const header: Header = { format, schema, service, taken_at };
    const counts: Record<string, number> = {};

    async function* lines(): AsyncGenerator<string> {
      yield lineOf(header);
      for (const [table, key] of tableKeys) {
        let rows = 0;
        for await (const page of pagesOf(db, table, key)) {
          rows += page.length;
          yield lineOf([table, page]);
        }
        counts[table] = rows;
      }
    }

    await pipeline(Readable.from(lines(), { objectMode: false }), createGzip(), output);
    return { header, rows: counts };
  });

const lineOf = (value: object): string => `${JSON.stringify(value)}\n`;

/** Limits memory, because a row may contain a complete response or event, and the parameters of a statement. */
const pageSize = 100;

type StoredRow = Readonly<Record<string, unknown>>;

async function* pagesOf(db: Database, table: string, key: readonly string[]): AsyncGenerator<readonly StoredRow[]> {
  const columns = sql.join(key.map((name) => sql.ref(name)));
  let last: StoredRow | undefined;
  do {
    const after = last;
    const where = after === undefined ? sql`` : sql`where (${columns}) > (${sql.join(key.map((name) => after[name]))})`;
    const { rows } = await sql<StoredRow>`
      select * from ${sql.table(table)} ${where} order by ${columns} limit ${sql.lit(pageSize)}`.execute(db);
    if (rows.length > 0) yield rows;
    last = rows.length < pageSize ? undefined : rows.at(-1);
  } while (last !== undefined);
}

/** All queries of the work see the data that was committed before the first query. They do not block changes. */
export function readSnapshot<T>({ dialect, read }: Storage, work: (db: Database) => Promise<T>): Promise<T> {
  if (dialect === 'postgres') {
    return read.transaction().execute(async (db) => {
      await sql`set transaction isolation level repeatable read, read only`.execute(db);
      await waitForReader(db);
      return work(db);
    });
  }
  return read.connection().execute(async (db) => {
    await sql`begin deferred`.execute(db);
    try {
      return await work(db);
    } finally {
      await sql`rollback`.execute(db);
    }
  });
}

/** Disables the transaction timeouts of PostgreSQL: a pipe may be slow, and reading all rows takes time. */
export async function waitForReader(db: Database): Promise<void> {
  for (const limit of ['statement_timeout', 'idle_in_transaction_session_timeout'])
    await sql`select set_config(${limit}, '0', true)`.execute(db);
}

/** Every table with its primary key, in backup order: a table comes after the tables that it references. */
export const tableKeys = Object.entries(tables).map(([table, columns]) => {
  const [, several] = /\n *primary key \((.+)\)/.exec(columns) ?? [];
  const [, one = ''] = /(\w+) (?:\w+ primary key|serial)/.exec(columns) ?? [];
  return [table, several?.split(', ') ?? [one]] as const;
});
