import { CompiledQuery } from 'kysely';
import type { Database, Storage } from '../../../src/service/storage/storage.ts';

export interface RecordedQuery {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

/** The same database, with its queries recorded. */
export const recording = (db: Database, queries: RecordedQuery[]): Database =>
  db.withPlugin({
    transformQuery({ node, queryId }) {
      const { sql: text, parameters } = db.getExecutor().compileQuery(node, queryId);
      queries.push({ text, parameters });
      return node;
    },
    transformResult: async ({ result }) => result,
  });

/** The query plan of the database; for a query about many items (see batch-query.ts), the plan for this one. */
export async function planOf(
  { commit, dialect }: Pick<Storage, 'commit' | 'dialect'>,
  query: RecordedQuery,
  one: unknown,
): Promise<string> {
  const listed = new Map<unknown, unknown>([
    ['(list)', JSON.stringify({ 0: one })],
    ['(length)', 1],
  ]);
  const explain = dialect === 'sqlite' ? 'explain query plan' : 'explain';
  const parameters = query.parameters.map((parameter) => listed.get(parameter) ?? parameter);
  const compiled = CompiledQuery.raw(`${explain} ${query.text}`, parameters);
  const { rows } = await commit('global', (db) => db.executeQuery<Record<string, unknown>>(compiled));
  return rows.map((row) => row['detail'] ?? row['QUERY PLAN']).join('\n');
}
