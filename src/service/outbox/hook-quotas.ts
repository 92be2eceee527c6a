import { type RawBuilder, sql } from 'kysely';
import type { Database, Storage } from '../storage/storage.ts';

/** Limits for the webhooks of a workspace. */
export interface HookQuotas {
  readonly maxHooks: number;
  /** Maximum number of deliveries that wait for one hook. Further events are dropped for it. */
  readonly maxWaitingDeliveries: number;
}

/**
 * Stores the quotas in the database, because all writers of events must respect them: all instances, and commands. The
 * settings of the instance that started last apply.
 */
export async function setHookQuotas({ commit }: Pick<Storage, 'commit'>, quotas: HookQuotas): Promise<void> {
  const { maxHooks, maxWaitingDeliveries } = quotas;
  await commit('global', (db) =>
    db
      .insertInto('quotas')
      .values(Object.entries({ maxHooks, maxWaitingDeliveries }).map(([name, value]) => ({ name, value })))
      .onConflict((conflict) => conflict.column('name').doUpdateSet(({ ref }) => ({ value: ref('excluded.value') })))
      .execute(),
  );
}

export const defaultHookQuotas: HookQuotas = { maxHooks: 100, maxWaitingDeliveries: 100_000 };

/** SQL for the value of a quota. The default applies if no service has ever run on the database. */
export const hookQuota = (db: Database, name: keyof HookQuotas): RawBuilder<number> =>
  sql<number>`coalesce(${db.selectFrom('quotas').select('value').where('name', '=', name)}, ${sql.lit(defaultHookQuotas[name])})`;
