import { randomUUID } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import type { HookEvent } from '../../interface/resources.ts';
import { inSlices } from '../runtime/map-in-slices.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { batchQuery, insertFrom, numberOf, textOf } from '../storage/batch-query.ts';
import { noteQueued } from '../storage/commit-group.ts';
import type { Database, Storage } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { now } from '../storage/timestamp.ts';
import type { OutboxEvent } from './event.ts';

/**
 * Inserts deliveries that are due now. One that follows another with the same key becomes due when settleDelivery() has
 * finished that one, which is in the table or earlier in the list.
 */
const insertDeliveries = batchQuery((db, members) => {
  const unfinished = db
    .selectFrom('deliveries as other')
    .select('other.id')
    .where('other.hook_id', '=', textOf('hookId'))
    .where('other.ordering_key', '=', textOf('orderingKey'));
  return insertFrom(db, members, 'deliveries', {
    id: textOf('id'),
    hook_id: textOf('hookId'),
    ordering_key: textOf('orderingKey'),
    event: textOf('event'),
    attempts: sql.lit(0),
    next_attempt_at: sql`case when ${numberOf('follows')} = 1 or exists ${unfinished} then null else ${now} end`,
    created_at: now,
  });
});

/** For a receiver that is down, more would fill the disk. Further events for the hook are dropped. */
export const maxWaitingDeliveries = 100_000;

/**
 * Limit per change, which then takes a second while others wait. A lease may have 20,000 locks, and a workspace a
 * hundred hooks.
 */
const maxQueuedAtOnce = 50_000;

/** Limits the length of a statement, because a hundred hooks may subscribe to hundreds of locks. */
const maxInsertedAtOnce = 1_000;

/**
 * Queues one delivery per event and subscribed hook, in order, in the transaction of the change. An event beyond a
 * limit is dropped for the hook, and counted.
 */
export async function recordEvents(db: Database, events: readonly OutboxEvent[]): Promise<void> {
  const subscribers = await subscribersOf(db, events);
  await recordEventsFor(db, subscribers, () => events);
}

/** For thousands of events. They are created only if there are hooks, which can be read together with other rows. */
export async function recordEventsFor(
  db: Database,
  subscribers: readonly Subscriber[],
  eventsIn: () => readonly OutboxEvent[] | Promise<readonly OutboxEvent[]>,
): Promise<void> {
  if (subscribers.length === 0) return;
  const events = await eventsIn();
  const deliveries: object[] = [];
  const keys = new Set<string>();
  for (const event of events) {
    const orderingKey = orderingKeyOf(event);
    for (const subscriber of subscribers) {
      if (subscriber.workspace !== event.workspace || !wantsEvent(subscriber, event)) continue;
      if (subscriber.added >= subscriber.capacity || deliveries.length >= maxQueuedAtOnce) {
        subscriber.dropped += 1;
        continue;
      }
      subscriber.added += 1;
      const id = `msg_${randomUUID()}`;
      const key = JSON.stringify([subscriber.id, orderingKey]);
      // The list contains an earlier delivery with the same hook and key.
      const follows = keys.has(key) ? 1 : 0;
      keys.add(key);
      deliveries.push({ id, hookId: subscriber.id, orderingKey, event: JSON.stringify({ ...event, id }), follows });
    }
  }
  await inSlices(deliveries, maxInsertedAtOnce, (slice) => insertDeliveries(db, slice));
  const changes = subscribers.map(({ id, added, dropped }) => ({ hookId: id, added, dropped }));
  const changed = changes.filter(({ added, dropped }) => added + dropped > 0);
  await changeBacklogs(db, changed);
  for (const subscriber of subscribers) {
    subscriber.capacity -= subscriber.added;
    Object.assign(subscriber, { added: 0, dropped: 0 });
  }
}

/** A hook receives events with the same key in the order in which they happened. */
const orderingKeyOf = ({ data }: OutboxEvent): string =>
  'sync' in data ? `sync:${data.sync.branch}` : `lock:${data.lock.path}`;

/** A hook, and how many deliveries can still be queued for it. */
export type Subscriber = Awaited<ReturnType<typeof subscribersOf>>[number];

const selectHooks = batchQuery((db, members) =>
  db
    .selectFrom(members)
    .innerJoin('hooks', (join) => join.on('hooks.workspace_id', '=', textOf('workspace')))
    .leftJoin('hook_backlogs', 'hook_id', 'hooks.id')
    // Omits the headers, which may be long, because every change of a lock reads these rows.
    .select(['hooks.id', 'workspace_id', 'events', 'branches', 'waiting'])
    .where('active', '=', 1),
);

/** The hooks of the workspaces of these changes. */
export async function subscribersOf(db: Database, changes: readonly { readonly workspace: string }[]) {
  if (changes.length === 0) return [];
  const workspaces = new Set(changes.map(({ workspace }) => workspace));
  const members = [...workspaces].map((workspace) => ({ workspace }));
  const rows = await selectHooks(db, members);
  return rows.map(({ id, workspace_id, waiting, branches, ...hook }) => ({
    id,
    // Parsed only for events that they apply to.
    branches,
    workspace: workspace_id,
    events: eventsOf(hook),
    capacity: maxWaitingDeliveries - (waiting ?? 0),
    added: 0,
    dropped: 0,
  }));
}

export type HookRow = Selectable<Tables['hooks']>;

/** The branches of a hook limit only its sync events. */
const wantsEvent = ({ events, ...hook }: Subscriber, { type, data }: OutboxEvent): boolean =>
  events.includes(type) && (!('sync' in data) || (branchesOf(hook)?.includes(data.sync.branch) ?? true));

// Only registerHook() writes these columns.
export const eventsOf = (row: Pick<HookRow, 'events'>): readonly HookEvent[] => JSON.parse(row.events) as HookEvent[];
export const branchesOf = (row: Pick<HookRow, 'branches'>): readonly string[] | null =>
  JSON.parse(row.branches ?? 'null') as string[] | null;

/**
 * Change of the number of waiting deliveries of a hook. Stored in the transactions of the deliveries, because counting
 * rows for every change of a lock would take longer with each row.
 */
interface BacklogChange {
  readonly hookId: string;
  /** Negative for finished deliveries. */
  readonly added: number;
  /** Number of events dropped because of a limit. */
  readonly dropped: number;
}

/** One statement for all hooks, because a hundred hooks of a workspace may subscribe to the same event. */
const addToBacklogs = batchQuery((db, members) =>
  insertFrom(db, members, 'hook_backlogs', {
    hook_id: textOf('hookId'),
    waiting: numberOf('added'),
    dropped: numberOf('dropped'),
  }).onConflict((conflict) =>
    conflict.column('hook_id').doUpdateSet(({ eb, ref }) => ({
      waiting: eb('hook_backlogs.waiting', '+', ref('excluded.waiting')),
      dropped: eb('hook_backlogs.dropped', '+', ref('excluded.dropped')),
    })),
  ),
);

export async function changeBacklogs(db: Database, changed: readonly BacklogChange[]): Promise<void> {
  if (changed.length > 0) await addToBacklogs(db, changed);
  if (changed.some(({ added }) => added > 0)) noteQueued(db, 'deliveries');
}

export async function measureBacklogs({ read }: Storage, metrics: Metrics): Promise<void> {
  const { most, dropped } = await read
    .selectFrom('hook_backlogs')
    .select(({ fn }) => [fn.max('waiting').as('most'), fn.sum<number | null>('dropped').as('dropped')])
    .executeTakeFirstOrThrow();
  metrics.mostWaiting.set(most ?? 0);
  metrics.droppedEvents.set(Number(dropped ?? 0));
}
