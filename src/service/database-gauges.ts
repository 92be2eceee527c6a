import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql } from 'kysely';
import { milliseconds } from '../interface/duration.ts';
import type { Metrics } from './runtime/metrics.ts';
import type { Storage } from './storage/storage.ts';

/** As documented for `workspace_tokens_expiring`. */
const expiringSoonMs = milliseconds({ seconds: 14 * 86_400 });

type Gauges = Pick<Metrics, 'locks' | 'lastSync' | 'lockWaiters' | 'expiringTokens'>;

/** Gauges of the database. Every instance measures them, with the same results. */
export function createDatabaseGauges({ read, now }: Pick<Storage, 'read' | 'now'>, metrics: Gauges) {
  /** Counts entries of the primary key: a condition on `expires_at` would read every lock. */
  const measure = (workspace: string) =>
    read
      .selectNoFrom(({ selectFrom }) => [
        selectFrom('locks')
          .select(({ fn }) => fn.countAll<number>().as('locks'))
          .where('workspace_id', '=', workspace)
          .as('locks'),
        selectFrom('synced_branches')
          .select(({ fn }) => fn.max('synced_at').as('last'))
          .where('workspace_id', '=', workspace)
          .as('syncedAt'),
      ])
      .executeTakeFirstOrThrow();

  return {
    async measureWorkspaces(): Promise<void> {
      const measured = [];
      for (const { id } of await read.selectFrom('workspaces').select('id').orderBy('id').execute()) {
        // On SQLite, a query blocks all requests.
        await yieldToEventLoop();
        measured.push({ workspace: id, ...(await measure(id)) });
      }
      // Removed workspaces lose their series.
      metrics.locks.reset();
      metrics.lastSync.reset();
      for (const { workspace, locks, syncedAt } of measured) {
        metrics.locks.set({ workspace }, Number(locks));
        if (syncedAt !== null) metrics.lastSync.set({ workspace }, syncedAt / 1_000);
        metrics.lockWaiters.inc({ workspace }, 0);
      }
    },
    async measureTokens(): Promise<void> {
      const { tokens } = await read
        .selectFrom('tokens')
        .select(({ fn }) => fn.countAll<number>().as('tokens'))
        .where(sql<boolean>`expires_at > ${now}`)
        .where(sql<boolean>`expires_at <= ${now} + ${sql.lit(expiringSoonMs)}`)
        .where('revoked_at', 'is', null)
        // A rotated token has a successor, and an exchanged one is not meant to last.
        .where('replaced_by', 'is', null)
        .where('run_id', 'is', null)
        .executeTakeFirstOrThrow();
      metrics.expiringTokens.set(Number(tokens));
    },
  };
}
