import { randomUUID } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import type { Database, Now, Storage } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import type { HookEventOccurrence } from './event.ts';
import type { HookRow } from './hooks.ts';

/** A delivery has its own time limit well below this, so the lease need not be renewed. */
export const leaseMs = 30_000;

export interface ClaimedDelivery {
  readonly id: string;
  readonly hook: HookRow;
  readonly event: HookEventOccurrence;
  /** How many attempts were made before this one. */
  readonly attempts: number;
  readonly lease: string;
}

/**
 * Takes the oldest delivery that is due, but for hooks that are busy enough. One waits for all before it that go to
 * the same hook with the same key, however long these take: a receiver is never told of a release before the lock.
 */
export async function claimDelivery(
  { claim, dialect, now }: Storage,
  busyHooks: readonly string[],
): Promise<ClaimedDelivery | undefined> {
  const lease = randomUUID();
  return claim(async (db) => {
    const next = await db
      .selectFrom('deliveries')
      .select('id')
      .where('finished_at', 'is', null)
      .where(sql<boolean>`next_attempt_at <= ${now}`)
      .where(sql<boolean>`(lease_until is null or lease_until < ${now})`)
      .$if(busyHooks.length > 0, (query) => query.where('hook_id', 'not in', [...busyHooks]))
      .where((where) =>
        where.not(
          where.exists(
            where
              .selectFrom('deliveries as earlier')
              .select('earlier.id')
              .whereRef('earlier.hook_id', '=', 'deliveries.hook_id')
              .whereRef('earlier.ordering_key', '=', 'deliveries.ordering_key')
              .whereRef('earlier.sequence', '<', 'deliveries.sequence')
              .where('earlier.finished_at', 'is', null),
          ),
        ),
      )
      .orderBy('sequence')
      .limit(1)
      .$if(dialect === 'postgres', (query) => query.forUpdate().skipLocked())
      .executeTakeFirst();
    if (next === undefined) return undefined;
    const row = await db
      .updateTable('deliveries')
      .set({ lease_owner: lease, lease_until: sql<number>`${now} + ${sql.lit(leaseMs)}` })
      .where('id', '=', next.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const hook = await db.selectFrom('hooks').selectAll().where('id', '=', row.hook_id).executeTakeFirstOrThrow();
    // Only recordEvent() writes the column.
    const event = JSON.parse(row.event) as HookEventOccurrence;
    return { id: row.id, hook, event, attempts: row.attempts, lease };
  });
}

export type DeliveryEnd =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly afterMs: number; readonly why: string }
  | { readonly kind: 'given-up'; readonly why: string }
  /** The receiver wants nothing more: the hook sleeps, and what waits for it is dropped. */
  | { readonly kind: 'gone'; readonly why: string };

type Columns = Partial<Selectable<Tables['deliveries']>>;

const release: Columns = { lease_owner: null, lease_until: null };

export async function settleDelivery(
  db: Database,
  now: Now,
  delivery: ClaimedDelivery,
  end: DeliveryEnd,
): Promise<void> {
  const mine = db
    .updateTable('deliveries')
    .set({ ...release, attempts: delivery.attempts + 1 })
    .where('id', '=', delivery.id)
    .where('lease_owner', '=', delivery.lease);
  switch (end.kind) {
    case 'delivered':
      await mine.set({ status: 'delivered', finished_at: now, last_error: null }).execute();
      return;
    case 'retry':
      await mine
        .set({ next_attempt_at: sql<number>`${now} + ${Math.round(end.afterMs)}`, last_error: end.why })
        .execute();
      return;
    case 'given-up':
      await mine.set({ status: 'failed', finished_at: now, last_error: end.why }).execute();
      return;
    case 'gone':
      await mine.set({ status: 'failed', finished_at: now, last_error: end.why }).execute();
      await db.updateTable('hooks').set({ active: 0, updated_at: now }).where('id', '=', delivery.hook.id).execute();
      await db
        .updateTable('deliveries')
        .set({ ...release, status: 'dropped', finished_at: now, last_error: end.why })
        .where('hook_id', '=', delivery.hook.id)
        .where('finished_at', 'is', null)
        .execute();
      return;
  }
}

/** Ends the lease at once, so that the next instance to look makes the attempt. */
export async function abandonDelivery({ claim }: Storage, { id, lease }: ClaimedDelivery): Promise<void> {
  await claim((db) =>
    db.updateTable('deliveries').set(release).where('id', '=', id).where('lease_owner', '=', lease).execute(),
  );
}

/** For a database that no other instance uses: whatever is leased there was left by an earlier process. */
export async function abandonAllDeliveries({ claim }: Storage): Promise<void> {
  await claim((db) => db.updateTable('deliveries').set(release).where('finished_at', 'is', null).execute());
}

const keptForMs = 7 * 24 * 60 * 60 * 1_000;

export async function removeOldDeliveries(storage: Storage): Promise<void> {
  await storage.commit((db) =>
    db
      .deleteFrom('deliveries')
      .where(sql<boolean>`finished_at <= ${storage.now} - ${sql.lit(keptForMs)}`)
      .execute(),
  );
}
