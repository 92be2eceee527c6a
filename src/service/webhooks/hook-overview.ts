import type { Hook } from '../../interface/resources.ts';
import type { Database } from '../storage/storage.ts';
import { hookOf } from './hooks.ts';

/** A hook and how its deliveries fare, for the operator. */
export interface HookOverview extends Hook {
  readonly pending_deliveries: number;
  /** Why the latest of the deliveries that had trouble had it; null when none is remembered. */
  readonly last_error: string | null;
}

export async function listHooks(db: Database, workspace: string): Promise<HookOverview[]> {
  const rows = await db
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
        .selectFrom('deliveries')
        .whereRef('hook_id', '=', 'hooks.id')
        .where('last_error', 'is not', null)
        .orderBy('sequence', 'desc')
        .limit(1)
        .select('last_error')
        .as('last_error'),
    ])
    .where('workspace_id', '=', workspace)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(({ pending, last_error, ...hook }) => ({
    ...hookOf(hook),
    pending_deliveries: Number(pending),
    last_error,
  }));
}
