import {
  type Compilable,
  type CompiledQuery,
  type DialectAdapter,
  PostgresAdapter,
  type RawBuilder,
  sql,
} from 'kysely';
import type { Database } from './storage.ts';
import type { Tables } from './tables.ts';

export const inputIndex: RawBuilder<number> = sql<number>`cast(asked.key as bigint)`;

interface MemberRow {
  readonly key: number;
  readonly value: string;
}

/** Placeholders for the list and its length while a query is built. No other parameter has one of these values. */
const [anyList, anyLength] = ['(list)', '(length)'];

/**
 * The members of a JSON list as rows, with their index. SQLite adds more columns, such as `id`, `type` and `path`, so
 * queries must qualify their columns with a table.
 */
export const rowsOf = (db: Database, list: RawBuilder<unknown>): RawBuilder<MemberRow> =>
  isPostgres(db)
    ? sql`lateral (select ordinality - 1 as key, value from json_array_elements(${list}) with ordinality)`
    : sql`json_each(${list})`;

export type Members = ReturnType<typeof membersFor>;

type Build<Row> = (db: Database, members: Members) => Compilable<Row>;

/**
 * A query for all members of a list at once. The list is a single parameter, so the SQL is the same for any number of
 * members. It is built once per database, because the databases differ in SQL.
 */
export function batchQuery<Row>(build: Build<Row>) {
  const built = new WeakMap<DialectAdapter, CompiledQuery<Row>>();

  function queryFor(db: Database): CompiledQuery<Row> {
    const { adapter } = db.getExecutor();
    const known = built.get(adapter);
    if (known !== undefined) return known;
    const compiled = build(db, membersFor(db)).compile();
    const query = hasRows(compiled) ? compiled : { ...compiled, sql: `${compiled.sql} ${sentAhead}` };
    built.set(adapter, query);
    return query;
  }

  return async (db: Database, list: readonly unknown[]): Promise<Row[]> => {
    const query = queryFor(db);
    const given = new Map<unknown, unknown>([
      [anyList, JSON.stringify(list)],
      [anyLength, list.length],
    ]);
    const parameters = query.parameters.map((parameter) => given.get(parameter) ?? parameter);
    return (await db.executeQuery<Row>({ ...query, parameters })).rows;
  };
}

/** Marks a statement whose result nobody needs. In a transaction, PostgreSQL receives it together with the next one. */
export const sentAhead = '/* sent ahead */';

const hasRows = ({ query }: CompiledQuery<unknown>): boolean =>
  !['InsertQueryNode', 'UpdateQueryNode', 'DeleteQueryNode'].includes(query.kind) ||
  ('returning' in query && query.returning !== undefined);

export const textOf = (name: string): RawBuilder<string> => sql<string>`asked.value ->> ${sql.lit(name)}`;
export const numberOf = (name: string): RawBuilder<number> =>
  sql<number>`cast(asked.value ->> ${sql.lit(name)} as bigint)`;

/** The text value of a member. */
export const valueText = (db: Database, value: string): RawBuilder<string> =>
  isPostgres(db) ? sql<string>`${sql.ref(value)} #>> '{}'` : sql<string>`${sql.ref(value)}`;

export const textsOf = <Name extends string>(names: readonly Name[]) => columnsOf(names, textOf);
export const numbersOf = <Name extends string>(names: readonly Name[]) => columnsOf(names, numberOf);
/** For a conflict: the values of the row that could not be inserted. */
export const excludedOf = <Name extends string>(names: readonly Name[]) =>
  columnsOf(names, (name) => sql<never>`excluded.${sql.ref(name)}`);

// The cast restores the names of the properties, which Object.fromEntries() loses.
const columnsOf = <Name extends string, Value>(names: readonly Name[], of: (name: string) => RawBuilder<Value>) =>
  Object.fromEntries(names.map((name) => [name, of(name)])) as Readonly<Record<Name, RawBuilder<Value>>>;

type Columns<Table extends keyof Tables> = Readonly<Partial<Record<keyof Tables[Table] & string, RawBuilder<unknown>>>>;

/** Inserts one row per member of a list, in the order of the list. */
export const insertFrom = <Table extends keyof Tables>(
  db: Database,
  members: Members,
  table: Table,
  columns: Columns<Table>,
) => {
  // Object.keys() loses the type of the keys.
  const names = Object.keys(columns) as (keyof Tables[Table] & string)[];
  return db
    .insertInto(table)
    .columns(names)
    .expression((from) =>
      from
        .selectFrom(members)
        .select(names.map((name) => sql`${columns[name]}`.as(name)))
        // SQLite parses `ON CONFLICT` after a SELECT without WHERE as a join constraint.
        .where(sql<boolean>`true`)
        .orderBy(inputIndex),
    );
};

/** The row for each member of a list, in the order of the list; undefined for a member without a row. */
export function inInputOrder<Row extends { readonly index: number }>(
  list: readonly unknown[],
  rows: readonly Row[],
): readonly (Row | undefined)[] {
  const found = list.map((): Row | undefined => undefined);
  for (const row of rows) found[row.index] = row;
  return found;
}

/** PostgreSQL assumes 100 rows for any list, and would scan a complete table. The limit has the real number. */
function membersFor(db: Database) {
  const rows = rowsOf(db, sql`${anyList}`);
  const counted = sql<MemberRow>`(select key, value from ${rows} as listed limit ${anyLength})`;
  return (isPostgres(db) ? counted : rows).as('asked');
}

const isPostgres = (db: Database): boolean => db.getExecutor().adapter instanceof PostgresAdapter;
