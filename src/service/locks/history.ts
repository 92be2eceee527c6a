import { sql } from 'kysely';
import type { OutboxEvent } from '../outbox/event.ts';
import { recordEventsFor, type Subscriber, subscribersOf } from '../outbox/outbox.ts';
import { batchQuery, insertFrom, numbersOf, textsOf } from '../storage/batch-query.ts';
import { keptForMs, removeOldOfWorkspaces } from '../storage/remove-old.ts';
import type { Database, Storage } from '../storage/storage.ts';
import { asTimestamp, now } from '../storage/timestamp.ts';
import { type LockRow, toLock } from './find.ts';

/** How a lock ended. Renewals are not recorded: a long job has many of them. */
export type LockEnd = {
  readonly lock: LockRow;
  /** For an expired lock, the end of its ttl, even if it was noticed later. */
  readonly at: number;
} & (
  | { readonly kind: 'expired'; readonly by: null }
  /** The owner who released it. */
  | { readonly kind: 'released' | 'force-released'; readonly by: string }
);

type LockChange =
  | LockEnd
  | { readonly kind: 'acquired'; readonly lock: LockRow }
  | { readonly kind: 'requested'; readonly lock: LockRow; readonly at: number; readonly request: Requester };

type Requester = Pick<LockRow, 'owner' | 'origin' | 'note'>;

const texts = ['workspace_id', 'kind', 'path', 'lock_id', 'owner', 'origin', 'note', 'lease_id', 'ended_by'] as const;
const numbers = ['ended_at', 'fence', 'acquired_at'] as const;

const insertHistory = batchQuery((db, members) =>
  insertFrom(db, members, 'lock_history', { ...textsOf(texts), ...numbersOf(numbers) })
    // A conflict in the history must not fail a request for a lock.
    .onConflict((conflict) => conflict.doNothing()),
);

/**
 * Writes one history row per ended lock, and queues events for the subscribed hooks. Must be called for every end, in
 * the same transaction.
 */
export async function recordEnds(
  db: Database,
  ends: readonly LockEnd[],
  subscribers: readonly Subscriber[],
): Promise<void> {
  if (ends.length === 0) return;
  const rows = ends.map(({ kind, lock, at, by }) => {
    const { id, type: _, expires_at: __, ...recorded } = lock;
    return { ...recorded, kind, lock_id: id, ended_at: at, ended_by: by };
  });
  await insertHistory(db, rows);
  await recordEventsFor(db, subscribers, () => ends.map(eventOf));
}

export const expiryOf = (lock: LockRow): LockEnd => ({ kind: 'expired', lock, at: lock.expires_at, by: null });

/** Jobs add fewer in 90 days. The limit keeps a client that locks in a loop from filling the disk. */
const maxRowsOfWorkspace = 5_000_000;

export const removeOldLockHistory = (storage: Storage): Promise<void> =>
  removeOldOfWorkspaces(storage, { table: 'lock_history', time: 'ended_at', keptForMs, max: maxRowsOfWorkspace });

export function eventOf(change: LockChange): OutboxEvent {
  const { kind, lock } = change;
  const at = kind === 'acquired' ? lock.acquired_at : change.at;
  const about = { workspace: lock.workspace_id, occurredAt: asTimestamp(at) };
  const data = { lock: toLock(lock) };
  switch (kind) {
    case 'requested':
      return { type: 'lock.requested', ...about, data: { ...data, request: change.request } };
    case 'acquired':
    case 'expired':
      return { type: `lock.${kind}`, ...about, data };
    case 'released':
    case 'force-released': {
      const release = { released_by: change.by, forced: kind === 'force-released' };
      return { type: 'lock.released', ...about, data: { ...data, ...release } };
    }
  }
}

/** Limit per transaction: other changes wait for it, and an expired lock may be reported to many hooks. */
const maxDeliveriesAtOnce = 500;

/** Number of expired locks read to find the workspaces that have some. The next call finds the rest. */
const maxLookedAt = 10_000;

/**
 * Removes expired locks, and queues their events, in one transaction per workspace, so that a workspace with many does
 * not delay others. Not urgent: expired locks block nobody. Returns the number of removed locks; if not 0, more may
 * remain.
 */
export async function removeExpiredLocks({ read, commit }: Storage): Promise<number> {
  const workspaces = await read
    .selectFrom((from) =>
      from
        .selectFrom('locks')
        .select('workspace_id')
        .where(isOver)
        .orderBy('expires_at')
        .limit(maxLookedAt)
        .as('expired'),
    )
    .select('workspace_id as id')
    .distinct()
    .execute();
  const removedFrom = (workspace: string): Promise<number> =>
    commit({ workspace }, async (db) => {
      const subscribers = await subscribersOf(db, [{ workspace }]);
      const removed = await db
        .deleteFrom('locks')
        .where('workspace_id', '=', workspace)
        .where('path', 'in', (from) =>
          from
            .selectFrom('locks')
            .select('path')
            .where('workspace_id', '=', workspace)
            .where(isOver)
            .orderBy('expires_at')
            .limit(Math.ceil(maxDeliveriesAtOnce / Math.max(1, subscribers.length))),
        )
        .where(isOver)
        .returningAll()
        .execute();
      await recordEnds(db, removed.map(expiryOf), subscribers);
      return removed.length;
    });
  const removed = await Promise.all(workspaces.map(({ id }) => removedFrom(id)));
  return removed.reduce((sum, count) => sum + count, 0);
}

/** PostgreSQL uses the index only if the time is evaluated once, hence the subquery. */
const isOver = sql<boolean>`expires_at <= (select ${now})`;

export type RecordedLockPeriod = ReturnType<typeof periodOf>;

export interface HistoryPosition {
  readonly endedAt: number;
  readonly fence: number;
}

export interface HistoryQuery {
  readonly workspace: string;
  readonly path?: string | undefined;
  /** Only older entries: the `next` of the previous page. */
  readonly before?: HistoryPosition | undefined;
  readonly limit: number;
}

/** Holders of ended locks, with the start and end of each lock. */
export async function readLockHistory(read: Database, query: HistoryQuery) {
  const { limit } = query;
  const found = await ofHistory(read, query)
    .unionAll(ofEndedLeases(read, query))
    .orderBy('ended_at', 'desc')
    .orderBy('fence', 'desc')
    .limit(limit + 1)
    .execute();
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1) : undefined;
  return {
    /** Newest first. */
    periods: shown.map(periodOf),
    /** Cursor of the next page; undefined on the last one. */
    next: last && { endedAt: last.ended_at, fence: last.fence },
  };
}

const common = ['path', 'fence', 'owner', 'origin', 'note', 'acquired_at', 'lock_id', 'ended_at', 'ended_by'] as const;

const ofHistory = (read: Database, query: HistoryQuery) =>
  read
    .selectFrom('lock_history')
    .select([...common, 'kind'])
    .where(isAsked(query));

/** Locks that ended with their lease, and that have not been moved to the history yet. */
const ofEndedLeases = (read: Database, query: HistoryQuery) =>
  read
    .selectFrom('ended_locks')
    .select([...common, sql<string>`'released'`.as('kind')])
    .where(isAsked(query));

function isAsked({ workspace, path, before }: HistoryQuery) {
  const conditions = [sql`workspace_id = ${workspace}`];
  if (path !== undefined) conditions.push(sql`path = ${path}`);
  if (before !== undefined) conditions.push(sql`(ended_at, fence) < (${before.endedAt}, ${before.fence})`);
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

/** Another version of the service may have recorded other kinds, which are shown unchanged. */
const periodOf = ({ ended_at, fence: _, acquired_at, ...lock }: PeriodRow) => ({
  ...lock,
  acquired_at: asTimestamp(acquired_at),
  ended_at: asTimestamp(ended_at),
});

type PeriodRow = Awaited<ReturnType<ReturnType<typeof ofHistory>['execute']>>[number];
