import { randomUUID } from 'node:crypto';
import type { Database, Now } from '../storage/storage.ts';
import type { DeliveryStatus } from './delivery-status.ts';
import type { HookEventOccurrence } from './event.ts';
import { type HookRow, wantsEvent } from './hooks.ts';

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

/**
 * Puts down one delivery of each event for each hook that asks for it, in the transaction of what the events tell of, and
 * in their order.
 */
export async function recordEvents(db: Database, now: Now, events: readonly OccurredEvent[]): Promise<void> {
  if (events.length === 0) return;
  const hooks = await db
    .selectFrom('hooks')
    .selectAll()
    .where('workspace_id', 'in', [...new Set(events.map(({ event }) => event.workspace))])
    .where('active', '=', 1)
    .execute();
  for (const occurred of hooks.length === 0 ? [] : events) {
    const { event, subject } = occurred;
    for (const hook of hooks) {
      if (hook.workspace_id !== event.workspace || !wantsEvent(hook, event.type, subject.branch)) continue;
      await addDelivery(db, now, hook, occurred);
    }
  }
}

export const recordEvent = (db: Database, now: Now, event: OutboxEvent, subject: EventSubject): Promise<void> =>
  recordEvents(db, now, [{ event, subject }]);
