import type { Hook, Timestamp } from '../../interface/resources.ts';
import { hookQuota } from '../outbox/hook-quotas.ts';
import type { Database } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { hookOf, type InactiveReason, inactiveWhyOf } from './hooks.ts';

/** A hook and the state of its deliveries, for the operator. */
export interface HookOverview extends Hook {
  /** Null if active. */
  readonly inactive_why: InactiveReason | null;
  /** Every attempt since then has failed; null if the last one succeeded. */
  readonly failing_since: Timestamp | null;
  readonly pending_deliveries: number;
  /** Counted among the latest hundred deliveries, because the time to count all would grow with their number. */
  readonly failed_deliveries: number;
  /** Last error of the latest delivery that has one; null without any. */
  readonly last_error: string | null;
  /** Null if no event was dropped. */
  readonly dropped_events: DroppedEvents | null;
}

/** Events that were dropped for a hook because its queue was full. */
export interface DroppedEvents {
  readonly count: number;
  readonly since: Timestamp;
  readonly last: Timestamp;
  /** Events are still being dropped. */
  readonly is_full: boolean;
}

export async function listHooks(db: Database, workspace: string): Promise<HookOverview[]> {
  const rows = await withDeliveries(db)
    .where('workspace_id', '=', workspace)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(overviewOf);
}

export async function findHookOverview(db: Database, workspace: string, id: string): Promise<HookOverview | undefined> {
  const row = await withDeliveries(db).where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : overviewOf(row);
}

export interface FailingHook extends HookOverview {
  readonly workspace: string;
}

/** Failing hooks of all or some workspaces, longest failing first. */
export async function failingHooks(
  db: Database,
  workspaces: readonly string[] | null,
  limit: number,
): Promise<readonly FailingHook[]> {
  const rows = await withDeliveries(db)
    .where('failing_since', 'is not', null)
    .$if(workspaces !== null, (hooks) => hooks.where('workspace_id', 'in', workspaces ?? []))
    .orderBy('failing_since')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...overviewOf(row), workspace: row.workspace_id }));
}

const latest = 100;

const withDeliveries = (db: Database) =>
  db
    .selectFrom('hooks')
    .leftJoin('hook_backlogs', 'hook_backlogs.hook_id', 'hooks.id')
    .selectAll('hooks')
    .select(['waiting', 'dropped', 'first_dropped_at', 'last_dropped_at'])
    .select(hookQuota(db, 'maxWaitingDeliveries').as('max_waiting'))
    .select((select) => [
      select
        .selectFrom((within) =>
          within
            .selectFrom('deliveries')
            .whereRef('hook_id', '=', 'hooks.id')
            .orderBy('sequence', 'desc')
            .limit(latest)
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

const overviewOf = (row: OverviewRow): HookOverview => ({
  ...hookOf(row),
  inactive_why: inactiveWhyOf(row),
  failing_since: row.failing_since === null ? null : asTimestamp(row.failing_since),
  pending_deliveries: row.waiting ?? 0,
  failed_deliveries: Number(row.failed),
  last_error: row.last_error,
  dropped_events: droppedOf(row),
});

function droppedOf(row: OverviewRow): DroppedEvents | null {
  const { dropped, first_dropped_at: first, last_dropped_at: last, waiting, max_waiting } = row;
  if (dropped === null || first === null || last === null) return null;
  const isFull = (waiting ?? 0) >= max_waiting;
  return { count: dropped, since: asTimestamp(first), last: asTimestamp(last), is_full: isFull };
}
