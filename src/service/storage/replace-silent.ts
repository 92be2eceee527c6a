import type { PostgresPool } from 'kysely';
import type pg from 'pg';

/**
 * Closes a connection after a query on it has timed out, so that the next query opens another one. The driver would
 * keep it, and the next query would wait for the same server, which may be gone after a failover.
 */
export const replaceSilentConnections = (pool: pg.Pool, query_timeout: number): PostgresPool => ({
  options: pool.options,
  end: () => pool.end(),
  async connect() {
    const client = await pool.connect();
    let silence: Error | undefined;
    const query = async (text: string, values: unknown[]) => {
      // For later queries, such as the rollback of the transaction.
      if (silence !== undefined) throw silence;
      try {
        // The types of the driver lack the timeout of a query.
        const config: pg.QueryConfig & pg.ClientConfig = { text, values, query_timeout };
        return await client.query(config);
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
