import { sql } from 'kysely';
import type { Database, Dialect } from '../storage/storage.ts';
import { databaseProblem } from '../storage/unavailable.ts';
import { damaged, parseLine, type Row, type RowCounts } from './format.ts';

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
