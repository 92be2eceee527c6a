import { type RawBuilder, sql } from 'kysely';
import type { Database, Storage } from '../storage/storage.ts';

/** Limits of one tenant. */
export interface HookQuotas {
  /** Maximum number of webhooks of a workspace. */
  readonly maxHooks: number;
  /** Deliveries that wait for one hook. Events beyond that are dropped for it. */
  readonly maxWaitingDeliveries: number;
}

/**
 * In the database, because every writer of events must respect them: all instances, and commands beside the service. The
 * instance that started last has set them.
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

/** The value as part of a query; the default where no service has ever run on the database. */
export const hookQuota = (db: Database, name: keyof HookQuotas): RawBuilder<number> =>
  sql<number>`coalesce(${db.selectFrom('quotas').select('value').where('name', '=', name)}, ${sql.lit(defaultHookQuotas[name])})`;
