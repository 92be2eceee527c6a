import { type Selectable, sql } from 'kysely';
import type { Database, Storage } from '../../../src/service/storage/storage.ts';
import { tables as columnsOf, type Tables } from '../../../src/service/storage/tables.ts';

type Rows = { readonly [T in keyof Tables]: readonly Selectable<Tables[T]>[] };

const awkward = 'a "quoted"\n\\ line\u2028 ヒーロー 🦊 é';
const largest = Number.MAX_SAFE_INTEGER;

/** The rows of tables that refer to others, that a restore checks, or that tests look for; two of every other table. */
const given: { readonly [T in keyof Tables]?: readonly Partial<Selectable<Tables[T]>>[] } = {
  tokens: [{ id: 'tok_1' }, { id: 'tok_2' }],
  sessions: [{ expires_at: largest }],
  signing_keys: [{ name: 'lfs', secret: 'c2VjcmV0' }],
  workspaces: [{ id: 'game' }, { id: 'b' }],
  syncs: [{ received_bytes: largest }, {}],
  // The paths sort differently by the rules of a language.
  locks: ['a', 'B', '_', 'é', 'Z/ヒ'].map((path, index) => ({ path, expires_at: index === 0 ? 2 : 8_000_000_000_000 })),
  fences: [
    { workspace_id: '', value: 3 },
    { workspace_id: 'game', value: 4_503_599_627_370_496 },
  ],
  // More than one page, whose keys share a prefix.
  lock_history: Array.from({ length: 450 }, (_, fence) => ({ ended_at: 5, fence })),
  waits: [{ id: 'wait_1' }, { id: 'wait_2' }],
  hooks: [
    { id: 'hook_1', events: '[]', branches: '[]' },
    { id: 'hook_2', events: '[]' },
  ],
  hook_backlogs: [{}],
  deliveries: [{ sequence: 2 }, { sequence: 40 }],
  audit: [{ sequence: 3 }, { sequence: 70 }],
};
const references = { workspace_id: 'game', token_id: 'tok_1', wait_id: 'wait_1', hook_id: 'hook_1' };

/** A value for every column in the first row of a table, and null for each nullable one in the others. */
function rowsOfTable(table: string, columns: string): readonly object[] {
  const rows: readonly object[] = Object.entries(given).find(([name]) => name === table)?.[1] ?? [{}, {}];
  const made = [...columns.matchAll(/(\w+) (text|bytes|bigint|integer|serial)\b([^,]*)/g)];
  return rows.map((row, index) => {
    const values = made.map(([, name = '', type, rest = '']) => {
      if (index > 0 && type !== 'serial' && !/not null|primary key/.test(rest)) return [name, null];
      return [name, type === 'text' || type === 'bytes' ? `${name} ${index} ${awkward}` : index + 1];
    });
    const present = Object.entries(references).filter(([name]) => made.some(([, column]) => column === name));
    const nulls = values.filter(([, value]) => value === null);
    return { ...Object.fromEntries([...values, ...present, ...nulls]), ...row };
  });
}

const created = Object.entries(columnsOf).map(([table, columns]) => [table, rowsOfTable(table, columns)] as const);

/** Rows of every table. The types of the tables describe the schema that they are made from. */
export const everyTable = Object.fromEntries(created) as unknown as Rows;

const tables = Object.keys(everyTable) as readonly (keyof Tables)[];

async function insertAll(db: Database, { dialect }: Storage): Promise<void> {
  await db.deleteFrom('fences').execute();
  const overriding = dialect === 'postgres' ? sql`overriding system value` : sql``;
  for (const table of tables) {
    for (const row of everyTable[table]) {
      const [names, values] = [Object.keys(row).map((name) => sql.ref(name)), Object.values(row)];
      await sql`insert into ${sql.table(table)} (${sql.join(names)}) ${overriding} values (${sql.join(values)})`.execute(
        db,
      );
    }
  }
}

/** Stores the rows in an empty database. */
export const storeEveryTable = (storage: Storage): Promise<void> =>
  storage.commit('global', (db) => insertAll(db, storage));

/** All rows of a database, each table in its own order. Reads one after the other, so that one connection is enough. */
export async function rowsOf({ read }: Storage): Promise<Record<keyof Tables, readonly unknown[]>> {
  const all: Partial<Record<keyof Tables, readonly unknown[]>> = {};
  for (const table of tables) {
    const rows = await read.selectFrom(table).selectAll().execute();
    const sorted = rows.map((row) => ({ row, text: JSON.stringify(Object.entries(row).toSorted()) }));
    all[table] = sorted.toSorted((a, b) => (a.text < b.text ? -1 : 1)).map(({ row }) => row);
  }
  // None is missing: these are the required names of `everyTable`.
  return all as Record<keyof Tables, readonly unknown[]>;
}
