import type { Database } from '../storage/storage.ts';
import { asTimestampOrNull } from '../storage/timestamp.ts';
import { toHook } from './hooks.ts';

export async function listHooks(db: Database, workspace: string) {
  const rows = await withBacklogs(db)
    .where('workspace_id', '=', workspace)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(overviewOf);
}

/** Failing hooks of all or some workspaces, longest failing first. */
export async function failingHooks(db: Database, workspaces: readonly string[] | null, limit: number) {
  const rows = await withBacklogs(db)
    .where('failing_since', 'is not', null)
    .$if(workspaces !== null, (hooks) => hooks.where('workspace_id', 'in', workspaces ?? []))
    .orderBy('failing_since')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...overviewOf(row), workspace: row.workspace_id }));
}

const withBacklogs = (db: Database) =>
  db
    .selectFrom('hooks')
    .leftJoin('hook_backlogs', 'hook_backlogs.hook_id', 'hooks.id')
    .selectAll('hooks')
    .select(['waiting', 'dropped']);

type OverviewRow = Awaited<ReturnType<ReturnType<typeof withBacklogs>['executeTakeFirstOrThrow']>>;

export type HookOverview = ReturnType<typeof overviewOf>;

/** A hook and the state of its deliveries, for the operator. */
const overviewOf = (row: OverviewRow) => ({
  ...toHook(row),
  /** Every attempt since then has failed; null if the last one succeeded. */
  failing_since: asTimestampOrNull(row.failing_since),
  last_error: row.last_error,
  pending_deliveries: row.waiting ?? 0,
  /** Events that were dropped because its queue was full. */
  dropped_events: row.dropped ?? 0,
});
