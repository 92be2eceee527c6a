import { randomUUID } from 'node:crypto';
import type { Database, Now } from '../storage/storage.ts';
import { changeBacklog } from './backlog.ts';
import type { DeliveryStatus } from './delivery-status.ts';
import type { HookEventOccurrence } from './event.ts';
import { type HookRow, wantsEvent } from './hooks.ts';
import { hookQuota } from './quotas.ts';

/** A union member without its id, which each delivery has for itself. */
type WithoutId<Occurrence> = Occurrence extends { readonly id: string } ? Omit<Occurrence, 'id'> : never;

export type OutboxEvent = WithoutId<HookEventOccurrence>;

export interface EventSubject {
  /** Events with the same key reach a hook in the order in which they happened. */
  readonly orderingKey: string;
  /** Null for events that have no branch: filters by branch do not hold them back. */
  readonly branch: string | null;
}

export interface OccurredEvent {
  readonly event: OutboxEvent;
  readonly subject: EventSubject;
}

/** Due at once, or when the one before it is over: settleDelivery() sees to that. */
async function addDelivery(db: Database, now: Now, hook: HookRow, { event, subject }: OccurredEvent): Promise<void> {
  const id = `msg_${randomUUID()}`;
  await db
    .insertInto('deliveries')
    .values(({ selectFrom, exists, case: choose }) => ({
      id,
      hook_id: hook.id,
      ordering_key: subject.orderingKey,
      event: JSON.stringify({ ...event, id }),
      status: 'pending' satisfies DeliveryStatus,
      attempts: 0,
      next_attempt_at: choose()
        .when(
          exists(
            selectFrom('deliveries')
              .select('id')
              .where('hook_id', '=', hook.id)
              .where('ordering_key', '=', subject.orderingKey)
              .where('finished_at', 'is', null),
          ),
        )
        .then(null)
        .else(now)
        .end(),
      created_at: now,
    }))
    .execute();
}

/** A hook, and how many deliveries may still be put down for it. */
interface Outlet {
  readonly hook: HookRow;
  readonly room: number;
  added: number;
  dropped: number;
}

async function outletsOf(db: Database, workspaces: readonly string[]): Promise<Outlet[]> {
  const rows = await db
    .selectFrom('hooks')
    .leftJoin('hook_backlogs', 'hook_id', 'hooks.id')
    .selectAll('hooks')
    .select(['waiting', hookQuota(db, 'maxWaitingDeliveries').as('max_waiting')])
    .where('workspace_id', 'in', workspaces)
    .where('active', '=', 1)
    .execute();
  return rows.map(({ waiting, max_waiting, ...hook }) => ({
    hook,
    room: max_waiting - (waiting ?? 0),
    added: 0,
    dropped: 0,
  }));
}

/**
 * Puts down one delivery of each event for each hook that asks for it, in the transaction of what the events tell of, and
 * in their order. Where as many wait as may, the event is not put down for the hook, and counted.
 */
export async function recordEvents(db: Database, now: Now, events: readonly OccurredEvent[]): Promise<void> {
  if (events.length === 0) return;
  const outlets = await outletsOf(db, [...new Set(events.map(({ event }) => event.workspace))]);
  for (const occurred of outlets.length === 0 ? [] : events) {
    const { event, subject } = occurred;
    for (const outlet of outlets) {
      const { hook } = outlet;
      if (hook.workspace_id !== event.workspace || !wantsEvent(hook, event.type, subject.branch)) continue;
      if (outlet.added >= outlet.room) {
        outlet.dropped += 1;
        continue;
      }
      await addDelivery(db, now, hook, occurred);
      outlet.added += 1;
    }
  }
  for (const { hook, added, dropped } of outlets) {
    if (added + dropped > 0) await changeBacklog(db, now, hook.id, { added, dropped });
  }
}

export const recordEvent = (db: Database, now: Now, event: OutboxEvent, subject: EventSubject): Promise<void> =>
  recordEvents(db, now, [{ event, subject }]);
