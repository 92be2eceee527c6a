import { type Compilable, type CompiledQuery, PostgresAdapter, type RawBuilder, sql } from 'kysely';
import type { Database, Now } from './storage.ts';

/** The place of a member in its list. */
export const inputIndex: RawBuilder<number> = sql<number>`cast(asked.key as bigint)`;

interface MemberRow {
  /** Its place in the list. */
  readonly key: string;
  /** The member, as JSON. */
  readonly value: string;
}

/** Placeholders for the list and its length while a query is built. No list has this text. */
const [anyList, anyLength] = ['(list)', '(length)'];

/**
 * The members of a list as rows. Both databases have a `json_each` that returns a row for each field of an object. The one
 * of SQLite has further columns, such as `id`, `type` and `path`, so columns need the name of their table beside it.
 */
const members = sql<MemberRow>`json_each(${anyList})`.as('asked');

export type Members = typeof members;

/**
 * A query about all members of a list at once. The list is one parameter, so that the text is the same for any number of
 * them: it is built once for each storage, which has a clock of its own.
 */
export function batchQuery<Row>(
  build: (db: Database, members: Members, now: Now) => Compilable<Row>,
): (db: Database, now: Now, list: readonly unknown[]) => Promise<Row[]> {
  const built = new WeakMap<Now, CompiledQuery<Row>>();

  function queryFor(db: Database, now: Now): CompiledQuery<Row> {
    const known = built.get(now);
    if (known !== undefined) return known;
    const query = build(db, membersFor(db), now).compile();
    built.set(now, query);
    return query;
  }

  return async (db, now, list) => {
    const query = queryFor(db, now);
    const given = new Map<unknown, unknown>([
      [anyList, JSON.stringify({ ...list })],
      [anyLength, list.length],
    ]);
    const parameters = query.parameters.map((parameter) => given.get(parameter) ?? parameter);
    const { rows } = await db.executeQuery<Row>({ ...query, parameters });
    return rows;
  };
}

/** A field of the members. */
export const textOf = (name: string): RawBuilder<string> => sql<string>`asked.value ->> ${sql.lit(name)}`;
export const numberOf = (name: string): RawBuilder<number> =>
  sql<number>`cast(asked.value ->> ${sql.lit(name)} as bigint)`;

/** For each member of a list the row that was found for it. */
export function inInputOrder<Row extends { readonly place: number }>(
  list: readonly unknown[],
  rows: readonly Row[],
): readonly (Row | undefined)[] {
  const found = list.map((): Row | undefined => undefined);
  for (const row of rows) found[row.place] = row;
  return found;
}

/** The planner of PostgreSQL takes any list for one of a hundred members, and would rather read a whole table. */
const countedMembers = sql<MemberRow>`(select key, value from json_each(${anyList}) limit ${anyLength})`.as('asked');

const membersFor = (db: Database): Members =>
  db.getExecutor().adapter instanceof PostgresAdapter ? countedMembers : members;
