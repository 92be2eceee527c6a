import type { Selectable } from 'kysely';
import type { HookEventOccurrence } from '../outbox/event.ts';
import type { HookRow } from '../outbox/hook-row.ts';
import type { Now, Storage } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { storedResponse } from './receiver-response.ts';

/** All unfinished deliveries are `open`. */
export const deliveryFilters = ['open', 'failed', 'delivered', 'dropped'] as const;

export type DeliveryFilter = (typeof deliveryFilters)[number];

interface DeliveryQuery {
  readonly limit: number;
  readonly before?: number | undefined;
  readonly only?: DeliveryFilter | undefined;
  /** Includes audit events, which a hook may have received in the past. They are for administrators only. */
  readonly withAudit?: boolean;
}

/** Newest first. `next` is the cursor of the next page; undefined on the last one. */
export async function listDeliveries(
  { read, now }: Pick<Storage, 'read' | 'now'>,
  hook: HookRow,
  { limit, before, only, withAudit = false }: DeliveryQuery,
) {
  let query = ofHook(read, now, hook);
  if (before !== undefined) query = query.where('sequence', '<', before);
  if (only === 'open') query = query.where('finished_at', 'is', null);
  else if (only !== undefined) query = query.where('finished_at', 'is not', null).where('status', '=', only);
  // Allows the use of an index: these deliveries always have an error, and few others do.
  if (only === 'failed' || only === 'dropped') query = query.where('last_error', 'is not', null);
  // A quoted text within the JSON would have escaped quotes.
  if (!withAudit) query = query.where('event', 'not like', '%"type":"audit.recorded"%');
  const rows = await query
    .orderBy('sequence', 'desc')
    .limit(limit + 1)
    .execute();
  const page = rows.slice(0, limit);
  return {
    deliveries: page.map((row) => overviewOf(hook, row)),
    next: rows.length > limit ? page.at(-1)?.sequence : undefined,
  };
}

export async function findDelivery({ read, now }: Pick<Storage, 'read' | 'now'>, hook: HookRow, id: string) {
  const row = await ofHook(read, now, hook).where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : overviewOf(hook, row);
}

const ofHook = (read: Storage['read'], now: Now, hook: HookRow) =>
  read.selectFrom('deliveries').selectAll().select(now.as('now')).where('hook_id', '=', hook.id);

type ReadRow = Selectable<Tables['deliveries']> & { readonly now: number };

export type DeliveryOverview = ReturnType<typeof overviewOf>;

/** Contains no secrets. The response of a receiver is untrusted text. */
const overviewOf = (hook: HookRow, row: ReadRow) => ({
  id: row.id,
  // Only recordEvents() writes the column.
  event: JSON.parse(row.event) as HookEventOccurrence,
  state: stateOf(hook, row),
  /** True if it had finished before and was sent again by a user. */
  again: row.status === 'again',
  attempts: row.attempts,
  created_at: asTimestamp(row.created_at),
  /** Null before the first attempt. */
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

function stateOf(hook: HookRow, { status, finished_at, lease_until, next_attempt_at, now }: ReadRow) {
  if (finished_at !== null) {
    const kind = status === 'delivered' || status === 'dropped' ? status : 'failed';
    return { kind, at: asTimestamp(finished_at) } as const;
  }
  if (lease_until !== null && lease_until >= now) return { kind: 'sending' } as const;
  if (hook.inactive_why !== null) return { kind: 'held' } as const;
  // An earlier delivery with the same ordering key must finish first.
  if (next_attempt_at === null) return { kind: 'behind-another' } as const;
  return { kind: 'waiting', until: asTimestamp(next_attempt_at) } as const;
}
