import type { Selectable } from 'kysely';
import type { Timestamp } from '../../interface/resources.ts';
import type { HookEventOccurrence } from '../outbox/event.ts';
import type { HookRow } from '../outbox/hook-row.ts';
import type { Now, Storage } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { inactiveWhyOf } from './hooks.ts';
import { type ReceiverResponse, storedResponse } from './receiver-response.ts';

export type DeliveryState =
  | { readonly kind: 'delivered' | 'failed' | 'dropped'; readonly at: Timestamp }
  | { readonly kind: 'under-way' }
  /** The next attempt is due at this time. */
  | { readonly kind: 'waiting'; readonly until: Timestamp }
  /** An earlier delivery with the same ordering key must finish first. */
  | { readonly kind: 'behind-another' }
  /** Its hook is paused. */
  | { readonly kind: 'held' };

export interface LastAttempt {
  readonly at: Timestamp;
  readonly duration_ms: number;
  /** Null without a response. */
  readonly response: ReceiverResponse | null;
}

/** Contains no secrets. The response of a receiver is untrusted text. */
export interface DeliveryOverview {
  readonly id: string;
  readonly event: HookEventOccurrence;
  readonly state: DeliveryState;
  /** True if it had finished before and was sent again by a user. */
  readonly again: boolean;
  readonly attempts: number;
  readonly created_at: Timestamp;
  /** Null before the first attempt, and if an earlier version of the service made the last one. */
  readonly last_attempt: LastAttempt | null;
  /** Reason why the last attempt failed. */
  readonly last_error: string | null;
}

export interface DeliveryPage {
  /** Newest first. */
  readonly deliveries: readonly DeliveryOverview[];
  /** Cursor of the next page; undefined on the last one. */
  readonly next: number | undefined;
}

/** All unfinished deliveries are `open`. */
export const deliveryFilters = ['open', 'failed', 'delivered', 'dropped'] as const;

export type DeliveryFilter = (typeof deliveryFilters)[number];

interface DeliveryQuery {
  readonly limit: number;
  readonly before?: number | undefined;
  /** Undefined: all deliveries. */
  readonly only?: DeliveryFilter | undefined;
}

export async function listDeliveries(
  { read, now }: Pick<Storage, 'read' | 'now'>,
  hook: HookRow,
  { limit, before, only }: DeliveryQuery,
): Promise<DeliveryPage> {
  const rows = await ofHook(read, now, hook)
    .$if(before !== undefined, (deliveries) => deliveries.where('sequence', '<', before ?? 0))
    .$if(only === 'open', (deliveries) => deliveries.where('finished_at', 'is', null))
    .$if(only !== undefined && only !== 'open', (deliveries) =>
      deliveries.where('finished_at', 'is not', null).where('status', '=', only ?? ''),
    )
    // Allows the use of an index: these deliveries always have an error, and few others do.
    .$if(only === 'failed' || only === 'dropped', (deliveries) => deliveries.where('last_error', 'is not', null))
    .orderBy('sequence', 'desc')
    .limit(limit + 1)
    .execute();
  const page = rows.slice(0, limit);
  return {
    deliveries: page.map((row) => overviewOf(hook, row)),
    next: rows.length > limit ? page.at(-1)?.sequence : undefined,
  };
}

export async function findDelivery(
  { read, now }: Pick<Storage, 'read' | 'now'>,
  hook: HookRow,
  id: string,
): Promise<DeliveryOverview | undefined> {
  const row = await ofHook(read, now, hook).where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : overviewOf(hook, row);
}

const ofHook = (read: Storage['read'], now: Now, hook: HookRow) =>
  read.selectFrom('deliveries').selectAll().select(now.as('now')).where('hook_id', '=', hook.id);

type ReadRow = Selectable<Tables['deliveries']> & { readonly now: number };

const overviewOf = (hook: HookRow, row: ReadRow): DeliveryOverview => ({
  id: row.id,
  // Only recordEvent() writes the column.
  event: JSON.parse(row.event) as HookEventOccurrence,
  state: stateOf(hook, row),
  again: row.status === 'again',
  attempts: row.attempts,
  created_at: asTimestamp(row.created_at),
  last_attempt:
    row.last_attempt_at === null
      ? null
      : {
          at: asTimestamp(row.last_attempt_at),
          duration_ms: row.last_duration_ms ?? 0,
          response: storedResponse(row.last_answer),
        },
  last_error: row.last_error,
});

function stateOf(hook: HookRow, { status, finished_at, lease_until, next_attempt_at, now }: ReadRow): DeliveryState {
  if (finished_at !== null) {
    const kind = status === 'delivered' || status === 'dropped' ? status : 'failed';
    return { kind, at: asTimestamp(finished_at) };
  }
  if (lease_until !== null && lease_until >= now) return { kind: 'under-way' };
  if (inactiveWhyOf(hook) !== null) return { kind: 'held' };
  if (next_attempt_at === null) return { kind: 'behind-another' };
  return { kind: 'waiting', until: asTimestamp(next_attempt_at) };
}
