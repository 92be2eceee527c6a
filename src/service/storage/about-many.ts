import { type Compilable, type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Database, Now } from './storage.ts';

interface MemberRow {
  /** Its place in the list. */
  readonly key: string;
  /** The member, as JSON. */
  readonly value: string;
}

/** What stands for the list and its length while a query is built. No list is such a text. */
const [anyList, anyLength] = ['(list)', '(length)'];

/**
 * The members of a list as the rows of a query. Both databases have a `json_each` that makes a row of each field of an
 * object. The limit is for the planner of PostgreSQL, which would take any list for one of a hundred members and rather
 * read a whole table.
 */
const members = sql<MemberRow>`(select key, value from json_each(${anyList}) limit ${anyLength})`.as('asked');

export type Members = typeof members;

/** A field of the members. */
export const textOf = (name: string): RawBuilder<string> => sql<string>`asked.value ->> ${sql.lit(name)}`;
export const numberOf = (name: string): RawBuilder<number> =>
  sql<number>`cast(asked.value ->> ${sql.lit(name)} as bigint)`;

/** The place of a member in its list. */
export const placeInList: RawBuilder<number> = sql<number>`cast(asked.key as bigint)`;

/**
 * A query about all members of a list at once. The list is one parameter, so that the text is the same for any number of
 * them: it is built once for each storage, which has a clock of its own.
 */
export function aboutMany<Row>(
  build: (db: Database, members: Members, now: Now) => Compilable<Row>,
): (db: Database, now: Now, list: readonly unknown[]) => Promise<Row[]> {
  const built = new WeakMap<Now, CompiledQuery<Row>>();

  function queryFor(db: Database, now: Now): CompiledQuery<Row> {
    const known = built.get(now);
    if (known !== undefined) return known;
    const query = build(db, members, now).compile();
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
