import { sql } from 'kysely';
import type { Database, Dialect } from '../storage/storage.ts';
import { databaseProblem } from '../storage/unavailable.ts';
import { type Counts, damaged, foreign, type Header, type Part, type Row } from './format.ts';

interface Loader {
  readonly db: Database;
  readonly dialect: Dialect;
  /** Empties the tables and creates the schema of the backup, before the first row. */
  prepare(header: Header): Promise<void>;
}

/** Below the limits of both databases for a statement. */
const maxParameters = 4_000;

interface OpenTable {
  readonly table: string;
  readonly columns: readonly string[];
  rows: Row[];
}

/** Loads all rows. Fails if the backup is incomplete. */
export async function load(parts: AsyncIterable<Part>, { db, dialect, prepare }: Loader) {
  const counts: Record<string, number> = {};
  let [header, end, open]: [Header?, Counts?, OpenTable?] = [];

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

  for await (const part of parts) {
    if (end !== undefined) throw damaged('there is something after its end');
    switch (part.kind) {
      case 'header':
        header = part;
        await prepare(part);
        break;
      case 'table':
        await endTable();
        open = { ...part, rows: [] };
        break;
      case 'row':
        if (open?.columns.length !== part.row.length) throw damaged('a row does not fit its table');
        open.rows.push(part.row);
        if ((open.rows.length + 1) * part.row.length > maxParameters) await flush();
        break;
      case 'end':
        await endTable();
        end = part.rows;
    }
  }
  if (header === undefined) throw foreign();
  if (end === undefined) throw damaged('its end is missing');
  for (const [table, rows] of Object.entries(end)) {
    if ((counts[table] ?? 0) !== rows) throw damaged(`rows of the table "${table}" are missing`);
  }
  return { header, rows: end };
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
