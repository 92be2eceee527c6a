import type { PostgresPool } from 'kysely';
import type pg from 'pg';

/**
 * The driver keeps a connection after a query on it has timed out, and the next query would wait for the same server: one
 * whose machine is gone, after a fail-over. The connection is closed instead, and the next query opens another.
 */
export const replaceSilentConnections = (pool: pg.Pool): PostgresPool => ({
  options: pool.options,
  end: () => pool.end(),
  async connect() {
    const client = await pool.connect();
    let silence: Error | undefined;
    const query = async (text: string, values: unknown[]) => {
      // Such as the rollback of a transaction.
      if (silence !== undefined) throw silence;
      try {
        return await client.query(text, values);
      } catch (error) {
        // The driver's own timeout has no code.
        if (error instanceof Error && error.message === 'Query read timeout') silence = error;
        throw error;
      }
    };
    // Kysely also passes cursors, which the service does not use.
    return { query: query as typeof client.query, release: (destroy) => client.release(destroy || silence) };
  },
});
