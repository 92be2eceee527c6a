import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { sql } from 'kysely';
import type { Database, Dialect } from '../storage/storage.ts';
import { databaseProblem } from '../storage/unavailable.ts';
import { damaged, type Header, parseHeader, parseLine, type Row, type RowCounts, unsupported } from './format.ts';

/** Below the limits of both databases for a statement. */
const maxParameters = 4_000;

interface OpenTable {
  readonly table: string;
  readonly columns: readonly string[];
  rows: Row[];
}

/** Loads all rows into empty tables, and returns their number. Fails if the backup is incomplete. */
export async function load(lines: AsyncIterable<string>, db: Database, dialect: Dialect): Promise<RowCounts> {
  const counts: Record<string, number> = {};
  let end: RowCounts | undefined;
  let open: OpenTable | undefined;

  async function flush(): Promise<void> {
    if (open === undefined || open.rows.length === 0) return;
    counts[open.table] = (counts[open.table] ?? 0) + open.rows.length;
    await insertRows(db, dialect, open);
    open.rows = [];
  }

  async function endTable(): Promise<void> {
    await flush();
    if (open !== undefined) await continueSequence(db, dialect, open);
  }

  for await (const text of lines) {
    const line = parseLine(text);
    if (end !== undefined) throw damaged('there is something after its end');
    if ('table' in line) {
      await endTable();
      open = { ...line, rows: [] };
    } else if ('rows' in line) {
      await endTable();
      end = line.rows;
    } else {
      if (open?.columns.length !== line.length) throw damaged('a row does not fit its table');
      open.rows.push(line);
      if ((open.rows.length + 1) * line.length > maxParameters) await flush();
    }
  }
  if (end === undefined) throw damaged('its end is missing');
  for (const [table, rows] of Object.entries(end)) {
    if ((counts[table] ?? 0) !== rows) throw damaged(`rows of the table "${table}" are missing`);
  }
  return end;
}

async function insertRows(db: Database, dialect: Dialect, { table, columns, rows }: OpenTable): Promise<void> {
  const names = sql.join(columns.map((name) => sql.ref(name)));
  const values = sql.join(rows.map((row) => sql`(${sql.join(row)})`));
  // PostgreSQL generates the sequence of audit entries and deliveries, and without this clause rejects other values.
  const overriding = dialect === 'postgres' ? sql`overriding system value` : sql``;
  try {
    await sql`insert into ${sql.table(table)} (${names}) ${overriding} values ${values}`.execute(db);
  } catch (error) {
    if (databaseProblem(error) !== undefined || !(error instanceof Error)) throw error;
    throw damaged(`the database does not accept rows of the table "${table}" (${error.message})`);
  }
}

/** Continues the sequence after the highest number. SQLite does so by itself. */
async function continueSequence(db: Database, dialect: Dialect, { table, columns }: OpenTable): Promise<void> {
  if (dialect === 'sqlite' || !columns.includes('sequence')) return;
  const last = sql`(select max(sequence) from ${sql.table(table)})`;
  await sql`select setval(pg_get_serial_sequence(${table}, 'sequence'), ${last}) where ${last} is not null`.execute(db);
}

/**
 * Reads a backup to its end. May fail there if the backup is incomplete or damaged: the caller must then undo its work.
 */
export async function readBackup<T>(
  input: Readable,
  work: (header: Header, lines: AsyncIterable<string>) => Promise<T>,
): Promise<T> {
  try {
    return await pipeline(input, createGunzip(), async (bytes) => {
      const lines = linesOf(bytes);
      const first = await lines.next();
      return work(parseHeader(first.done ? '' : first.value), lines);
    });
  } catch (error) {
    throw asBackupError(error);
  }
}

/** Far longer than any row, because requests to the service are limited as well. */
const maxLineLength = 64 * 1_024 * 1_024;

async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let open: string[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
    open.push(first);
    length += first.length;
    if (length > maxLineLength) throw damaged('a line in it is too long');
    const last = others.pop();
    if (last === undefined) continue;
    yield open.join('');
    yield* others;
    open = [last];
    length = last.length;
  }
  if (length > 0) throw damaged('its last line is incomplete');
}

/** Converts errors of zlib for truncated and invalid input: https://www.zlib.net/manual.html */
function asBackupError(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  if (error.code === 'Z_BUF_ERROR') return damaged('its end is missing');
  if (error.code !== 'Z_DATA_ERROR') return error;
  return error.message === 'incorrect header check'
    ? unsupported()
    : damaged('its checksum or its compression is wrong');
}
