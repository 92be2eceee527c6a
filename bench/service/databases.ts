import { createPostgresDatabase } from '../../test/support/databases.ts';
import type { Bench, LeftOut } from '../benchmark.ts';

export interface BenchDatabase {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** A new database, or undefined for the one that a service keeps in its folder. */
  createUrl(): Promise<string | undefined>;
}

/** What the service stores on, as far as it is there. */
export async function databasesOf(
  bench: Bench,
): Promise<{ readonly databases: readonly BenchDatabase[]; readonly leftOut: readonly LeftOut[] }> {
  const sqlite: BenchDatabase = { name: 'SQLite', createUrl: async () => undefined };
  const server = await bench.postgres();
  switch (server.kind) {
    case 'missing':
      return { databases: [sqlite], leftOut: [{ name: 'PostgreSQL', reason: server.reason }] };
    case 'running': {
      const createUrl = async (): Promise<string> => {
        const { url, remove } = await createPostgresDatabase(server.url);
        bench.atEnd(remove);
        return url;
      };
      return { databases: [sqlite, { name: 'PostgreSQL', createUrl }], leftOut: [] };
    }
  }
}
