import { CompiledQuery } from 'kysely';
import type { Database, Storage } from '../../../src/service/storage/storage.ts';
import { now } from '../../../src/service/storage/timestamp.ts';

const changed = new WeakSet<object>();

/** Changes each query of this database before it runs. */
function changeQueries(db: Database, change: (text: string, parameters: readonly unknown[]) => string): Database {
  const executor = db.getExecutor();
  if (changed.has(executor)) return db;
  changed.add(executor);
  const execute = executor.executeQuery.bind(executor);
  executor.executeQuery = (query, ...more) => execute({ ...query, sql: change(query.sql, query.parameters) }, ...more);
  return db;
}

export interface RecordedQuery {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

/** The same database, with its queries recorded. */
export const recording = (db: Database, queries: RecordedQuery[]): Database =>
  changeQueries(db.withoutPlugins(), (text, parameters) => {
    queries.push({ text, parameters });
    return text;
  });

/** The query plan of the database. */
export async function planOf(
  { commit, dialect }: Pick<Storage, 'commit' | 'dialect'>,
  { text, parameters }: RecordedQuery,
): Promise<string> {
  const explain = dialect === 'sqlite' ? 'explain query plan' : 'explain';
  const compiled = CompiledQuery.raw(`${explain} ${text}`, [...parameters]);
  const { rows } = await commit('global', (db) => db.executeQuery<Record<string, unknown>>(compiled));
  return rows.map((row) => row['detail'] ?? row['QUERY PLAN']).join('\n');
}

/** The same database with another clock: SQL for each reading of it, made from that of the database. */
export const withClockOf = (db: Database, clockOf: (clock: string) => string): Database => {
  const { sql: clock } = now.compile(db);
  return changeQueries(db, (text) => text.replaceAll(clock, () => clockOf(clock)));
};

export const storageWithClock = (storage: Storage, clockOf: (clock: string) => string): Storage => ({
  ...storage,
  read: withClockOf(storage.read.withoutPlugins(), clockOf),
  commit: (scope, change) => storage.commit(scope, (db) => change(withClockOf(db, clockOf))),
  batchCommits: (scopeOf, make) =>
    storage.batchCommits(scopeOf, (db, changes) => make(withClockOf(db, clockOf), changes)),
  claim: (work) => storage.claim((db) => work(withClockOf(db, clockOf))),
});
