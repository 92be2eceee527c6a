import { randomUUID } from 'node:crypto';
import type { HookEvent } from '../../interface/resources.ts';
import type { Database, Now } from '../storage/storage.ts';
import type { HookEventOccurrence } from './event.ts';
import { wantsEvent } from './hooks.ts';

/** A union member without its id, which each delivery has for itself. */
type WithoutId<Occurrence> = Occurrence extends { readonly id: string } ? Omit<Occurrence, 'id'> : never;

export type OutboxEvent = WithoutId<HookEventOccurrence>;

export interface EventSubject {
  /** Events with the same key reach a hook in the order in which they happened. */
  readonly orderingKey: string;
  /** Null for events that have no branch: filters by branch do not hold them back. */
  readonly branch: string | null;
}

/**
 * Puts down one delivery for each hook that asks for the event, in the transaction of what the event tells of. It is
 * due at once, or when the one before it is over: settleDelivery() sees to that.
 */
export async function recordEvent(
  db: Database,
  now: Now,
  event: OutboxEvent,
  { orderingKey, branch }: EventSubject,
): Promise<void> {
  const type: HookEvent = event.type;
  const hooks = await db
    .selectFrom('hooks')
    .selectAll()
    .where('workspace_id', '=', event.workspace)
    .where('active', '=', 1)
    .execute();
  for (const hook of hooks) {
    if (!wantsEvent(hook, type, branch)) continue;
    const id = `msg_${randomUUID()}`;
    await db
      .insertInto('deliveries')
      .values(({ selectFrom, exists, case: choose }) => ({
        id,
        hook_id: hook.id,
        ordering_key: orderingKey,
        event: JSON.stringify({ ...event, id }),
        status: 'pending',
        attempts: 0,
        next_attempt_at: choose()
          .when(
            exists(
              selectFrom('deliveries')
                .select('id')
                .where('hook_id', '=', hook.id)
                .where('ordering_key', '=', orderingKey)
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
}
