import type { Hook } from '../../interface/resources.ts';
import type { Database } from '../storage/storage.ts';
import { hookOf, type InactiveWhy, inactiveWhyOf } from './hooks.ts';

/** A hook and how its deliveries fare, for the operator. */
export interface HookOverview extends Hook {
  /** Null while it is active. */
  readonly inactive_why: InactiveWhy | null;
  readonly pending_deliveries: number;
  /** Of the latest hundred: to count them all would take longer the more there are. */
  readonly failed_deliveries: number;
  /** Why the latest of the deliveries that had trouble had it; null when none is remembered. */
  readonly last_error: string | null;
}

const latest = 100;

const withDeliveries = (db: Database, workspace: string) =>
  db
    .selectFrom('hooks')
    .selectAll()
    .select((select) => [
      select
        .selectFrom('deliveries')
        .whereRef('hook_id', '=', 'hooks.id')
        .where('finished_at', 'is', null)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('pending'),
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
    ])
    .where('workspace_id', '=', workspace);

type OverviewRow = Awaited<ReturnType<ReturnType<typeof withDeliveries>['executeTakeFirstOrThrow']>>;

const overviewOf = ({ pending, failed, last_error, ...hook }: OverviewRow): HookOverview => ({
  ...hookOf(hook),
  inactive_why: inactiveWhyOf(hook),
  pending_deliveries: Number(pending),
  failed_deliveries: Number(failed),
  last_error,
});

export async function listHooks(db: Database, workspace: string): Promise<HookOverview[]> {
  const rows = await withDeliveries(db, workspace).orderBy('created_at').orderBy('id').execute();
  return rows.map(overviewOf);
}

export async function findHookOverview(db: Database, workspace: string, id: string): Promise<HookOverview | undefined> {
  const row = await withDeliveries(db, workspace).where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : overviewOf(row);
}
