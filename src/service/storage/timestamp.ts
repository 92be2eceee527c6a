import { type Dialect, type RawBuilder, sql } from 'kysely';
import type { Timestamp } from '../../interface/resources.ts';
import type { Database, Storage } from './storage.ts';

export const asTimestampOrNull = (milliseconds: number | null): Timestamp | null =>
  milliseconds === null ? null : asTimestamp(milliseconds);

export const asTimestamp = (milliseconds: number): Timestamp => new Date(milliseconds).toISOString();

/** The time by the clock of the database, in milliseconds since 1970: SQL that each dialect replaces with its own. */
export const now: RawBuilder<number> = sql<number>`database_time()`;

/** Adds the SQL for `now` to a dialect. */
export function withClock(dialect: Dialect, clock: string): Dialect {
  const compiler = dialect.createQueryCompiler();
  dialect.createQueryCompiler = () => ({
    compileQuery(node, queryId) {
      const query = compiler.compileQuery(node, queryId);
      return { ...query, sql: query.sql.replaceAll('database_time()', clock) };
    },
  });
  return dialect;
}

export const timeOf = async (db: Database): Promise<number> =>
  (await db.selectNoFrom(now.as('at')).executeTakeFirstOrThrow()).at;

export type DatabaseClock = Awaited<ReturnType<typeof openDatabaseClock>>;

/** The clock of the database, without a query for each reading. The clock of this machine may be wrong. */
export async function openDatabaseClock({ read }: Pick<Storage, 'read'>) {
  let offsetMs = 0;
  const refresh = async (): Promise<void> => {
    offsetMs = (await timeOf(read)) - performance.now();
  };
  await refresh();
  return { refresh, now: (): number => offsetMs + performance.now() };
}
