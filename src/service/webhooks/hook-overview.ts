import { hookQuota } from '../outbox/hook-quotas.ts';
import { isNotRemoved } from '../outbox/hook-row.ts';
import type { Database } from '../storage/storage.ts';
import { asTimestamp, asTimestampOrNull } from '../storage/timestamp.ts';
import { toHook } from './hooks.ts';

export async function listHooks(db: Database, workspace: string) {
  const rows = await withDeliveries(db)
    .where('workspace_id', '=', workspace)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(overviewOf);
}

/** Failing hooks of all or some workspaces, longest failing first. */
export async function failingHooks(db: Database, workspaces: readonly string[] | null, limit: number) {
  const rows = await withDeliveries(db)
    .where('failing_since', 'is not', null)
    .$if(workspaces !== null, (hooks) => hooks.where('workspace_id', 'in', workspaces ?? []))
    .orderBy('failing_since')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...overviewOf(row), workspace: row.workspace_id }));
}

const withDeliveries = (db: Database) =>
  db
    .selectFrom('hooks')
    .where(isNotRemoved)
    .leftJoin('hook_backlogs', 'hook_backlogs.hook_id', 'hooks.id')
    .selectAll('hooks')
    .select(['waiting', 'dropped', 'first_dropped_at', 'last_dropped_at'])
    .select(hookQuota(db, 'maxWaitingDeliveries').as('max_waiting'))
    .select((select) => [
      // Among the latest hundred deliveries, because the time to count all would grow with their number.
      select
        .selectFrom((within) =>
          within
            .selectFrom('deliveries')
            .whereRef('hook_id', '=', 'hooks.id')
            .orderBy('sequence', 'desc')
            .limit(100)
            .select('status')
            .as('latest'),
        )
        .where('status', '=', 'failed')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('failed'),
      select
        .selectFrom('deliveries')
        .whereRef('hook_id', '=', 'hooks.id')
        .where('last_error', 'is not', null)
        .orderBy('sequence', 'desc')
        .limit(1)
        .select('last_error')
        .as('last_error'),
    ]);

type OverviewRow = Awaited<ReturnType<ReturnType<typeof withDeliveries>['executeTakeFirstOrThrow']>>;

export type HookOverview = ReturnType<typeof overviewOf>;

/** A hook and the state of its deliveries, for the operator. */
const overviewOf = (row: OverviewRow) => ({
  ...toHook(row),
  /** The receiver answered 410: it wants no more deliveries. */
  is_gone: row.active === 0,
  /** Every attempt since then has failed; null if the last one succeeded. */
  failing_since: asTimestampOrNull(row.failing_since),
  pending_deliveries: row.waiting ?? 0,
  failed_deliveries: Number(row.failed),
  /** Last error of the latest delivery that has one. */
  last_error: row.last_error,
  dropped_events: droppedOf(row),
});

/** Events that were dropped for a hook because its queue was full; null if none was. */
function droppedOf(row: OverviewRow) {
  const { dropped, first_dropped_at: first, last_dropped_at: last, waiting, max_waiting } = row;
  if (dropped === null || first === null || last === null) return null;
  /** Events are still being dropped. */
  const is_full = (waiting ?? 0) >= max_waiting;
  return { count: dropped, since: asTimestamp(first), last: asTimestamp(last), is_full };
}
