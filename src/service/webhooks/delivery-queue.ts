import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { changeBacklogs, type HookRow } from '../outbox/outbox.ts';
import { claimedUntil } from '../storage/claim.ts';
import type { Database, Storage } from '../storage/storage.ts';
import { now } from '../storage/timestamp.ts';

export type DueHook = Awaited<ReturnType<typeof dueHooks>>[number];

/**
 * Only reads, so it does not wait for changes. One index lookup per hook with waiting deliveries, regardless of their
 * number, and of the number of hooks.
 */
export async function dueHooks({ read }: Storage) {
  const hooks = await read
    .selectFrom('hooks')
    .select(['id', 'workspace_id as workspace', 'failing_since'])
    .select(({ selectFrom }) =>
      selectFrom('deliveries')
        .select('next_attempt_at')
        .whereRef('hook_id', '=', 'hooks.id')
        .where(isDue)
        .orderBy('next_attempt_at')
        .limit(1)
        .as('since'),
    )
    .where('active', '=', 1)
    .where('id', 'in', (from) => from.selectFrom('hook_backlogs').select('hook_id').where('waiting', '>', 0))
    .execute();
  return hooks.flatMap(({ id, workspace, since, failing_since }) =>
    // `since`: when its oldest due delivery became due. `isFailing`: its last attempt failed.
    since === null ? [] : [{ id, workspace, since, isFailing: failing_since !== null }],
  );
}

export type ClaimedDelivery = NonNullable<Awaited<ReturnType<typeof claimDelivery>>>;

/**
 * Claims the delivery of a hook that was due first. Undefined if another instance was faster, or the hook is inactive.
 */
export async function claimDelivery({ claim, dialect }: Storage, hookId: string) {
  const claimId = randomUUID();
  return claim(async (db) => {
    const hook = await db
      .selectFrom('hooks')
      .selectAll()
      .where('id', '=', hookId)
      .where('active', '=', 1)
      .executeTakeFirst();
    const next = db
      .selectFrom('deliveries')
      .select('id')
      .where('hook_id', '=', hookId)
      .where(isDue)
      .orderBy('next_attempt_at')
      .orderBy('sequence')
      .limit(1)
      .$if(dialect === 'postgres', (query) => query.forUpdate().skipLocked());
    const delivery =
      hook &&
      (await db
        .updateTable('deliveries')
        .set({ claimed_by: claimId, claimed_until: claimedUntil })
        .where('id', '=', next)
        .returningAll()
        .returning(now.as('claimedAt'))
        .executeTakeFirst());
    return delivery && { ...delivery, claimId, hook };
  });
}

export type DeliveryEnd =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly afterMs: number; readonly reason: string }
  | { readonly kind: 'given-up'; readonly reason: string }
  /** The receiver wants no more deliveries. The hook becomes inactive, and its waiting deliveries are dropped. */
  | { readonly kind: 'gone'; readonly reason: string };

/**
 * Records the result of an attempt, and removes the delivery unless it will be retried. False, without any change, if
 * this instance no longer has the claim, or the hook was removed.
 */
export async function settleDelivery(
  db: Database,
  { id, claimId, attempts, hook }: ClaimedDelivery,
  end: DeliveryEnd,
): Promise<boolean> {
  const change =
    end.kind === 'retry'
      ? sql`update deliveries set claimed_by = null, claimed_until = null, attempts = ${attempts + 1},
          next_attempt_at = ${now} + ${Math.round(end.afterMs)}`
      : sql`delete from deliveries`;
  const { rows } = await sql<{ ordering_key: string }>`${change}
    where id = ${id} and claimed_by = ${claimId} returning ordering_key`.execute(db);
  const [row] = rows;
  if (row === undefined) return false;
  await noteResult(db, hook, end);
  if (end.kind === 'retry') return true;
  await changeBacklogs(db, [{ hookId: hook.id, added: -1, dropped: 0 }]);
  await makeNextDue(db, hook.id, row.ordering_key);
  if (end.kind === 'gone') await deactivateHook(db, hook);
  return true;
}

/** No attempt is in progress, or its instance crashed. */
const notClaimed = sql<boolean>`(claimed_until is null or claimed_until < (select ${now}))`;

/**
 * Selects due deliveries. Among those of one hook with the same key, only the first has a time, so that a receiver
 * never gets a release before its lock. The clock is in a subquery, or PostgreSQL would read it for every row and could
 * not use the index.
 */
const isDue = sql<boolean>`next_attempt_at <= (select ${now}) and ${notClaimed}`;

async function noteResult(db: Database, { id, failing_since }: HookRow, end: DeliveryEnd): Promise<void> {
  // Most deliveries have nothing to change here.
  if (end.kind === 'delivered' && failing_since === null) return;
  await db
    .updateTable('hooks')
    .set(
      end.kind === 'delivered'
        ? { failing_since: null }
        : ({ fn }) => ({ failing_since: fn.coalesce('failing_since', now), last_error: end.reason }),
    )
    .where('id', '=', id)
    .execute();
}

async function makeNextDue(db: Database, hookId: string, orderingKey: string): Promise<void> {
  const next = db
    .selectFrom('deliveries')
    .select('sequence')
    .where('hook_id', '=', hookId)
    .where('ordering_key', '=', orderingKey)
    .orderBy('sequence')
    .limit(1);
  await db.updateTable('deliveries').set({ next_attempt_at: now }).where('sequence', '=', next).execute();
}

/**
 * Deactivates a hook, and drops its waiting deliveries. Does nothing if the hook was registered again after the attempt
 * started, because the 410 is not about the new registration.
 */
async function deactivateHook(db: Database, { id, updated_at }: HookRow): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('hooks')
    .set({ active: 0, updated_at: now })
    .where('id', '=', id)
    .where('updated_at', '=', updated_at)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return;
  await db.deleteFrom('deliveries').where('hook_id', '=', id).execute();
  await db.updateTable('hook_backlogs').set({ waiting: 0 }).where('hook_id', '=', id).execute();
}
