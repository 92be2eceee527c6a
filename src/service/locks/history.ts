import { type Selectable, sql } from 'kysely';
import type { HookEvent } from '../../interface/resources.ts';
import type { OutboxEvent } from '../outbox/event.ts';
import { recordEventsFor, type Subscriber, subscribersOf } from '../outbox/outbox.ts';
import { batchQuery, insertFrom, numbersOf, textOf, textsOf } from '../storage/batch-query.ts';
import { keptForMs, removeOldOfWorkspaces } from '../storage/remove-old.ts';
import type { Database, Storage } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { asTimestamp, now } from '../storage/timestamp.ts';
import { type LockRow, toLock } from './find.ts';

/** The end of a lock. Renewals are not recorded: a long job has many of them. */
export interface LockEnd {
  readonly lock: LockRow;
  /** For an expired lock, the end of its ttl, even if it was noticed later. */
  readonly at: number;
  /** The owner who released it; null if it expired. */
  readonly by: string | null;
}

export const expiryOf = (lock: LockRow): LockEnd => ({ lock, at: lock.expires_at, by: null });

/** How a lock ended. Only a forced release has another owner. */
export function endKind({ owner, ended_by }: Pick<PeriodRow, 'owner' | 'ended_by'>) {
  if (ended_by === null) return 'expired';
  return ended_by === owner ? 'released' : 'force-released';
}

const texts = ['workspace_id', 'path', 'lock_id', 'owner', 'origin', 'note', 'lease_id', 'ended_by'] as const;
const numbers = ['ended_at', 'fence', 'acquired_at'] as const;

const insertHistory = batchQuery((db, members) =>
  insertFrom(db, members, 'lock_history', { ...textsOf(texts), ...numbersOf(numbers) })
    // A conflict in the history must not fail a request for a lock.
    .onConflict((conflict) => conflict.doNothing()),
);

const deleteLocks = batchQuery((db, members) =>
  db
    .deleteFrom('locks')
    .where(sql<boolean>`(workspace_id, path) in (select ${textOf('workspace_id')}, ${textOf('path')} from ${members})`),
);

/** Deletes these locks, writes a history row for each, and queues events for the subscribed hooks. */
export async function endLocks(
  db: Database,
  ends: readonly LockEnd[],
  subscribers: readonly Subscriber[],
): Promise<void> {
  if (ends.length === 0) return;
  const rows = ends.map(({ lock, at, by }) => {
    const { id, expires_at: _, ...recorded } = lock;
    return { ...recorded, lock_id: id, ended_at: at, ended_by: by };
  });
  await deleteLocks(db, rows);
  await insertHistory(db, rows);
  await recordEventsFor(db, subscribers, () => ends.map(endEvent));
}

export function endEvent({ lock, at, by }: LockEnd): OutboxEvent {
  if (by === null) return lockEvent('lock.expired', lock, at, {});
  return lockEvent('lock.released', lock, at, { released_by: by, forced: by !== lock.owner });
}

export const lockEvent = <Type extends HookEvent, More>(type: Type, lock: LockRow, at: number, more: More) => ({
  type,
  workspace: lock.workspace_id,
  occurredAt: asTimestamp(at),
  data: { lock: toLock(lock), ...more },
});

/** Jobs add fewer in 90 days. The limit keeps a client that locks in a loop from filling the disk. */
const maxRowsOfWorkspace = 5_000_000;

export const removeOldLockHistory = (storage: Storage): Promise<void> =>
  removeOldOfWorkspaces(storage, { table: 'lock_history', time: 'ended_at', keptForMs, max: maxRowsOfWorkspace });

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
  const expired = (db: Database) => db.selectFrom('locks').where(isOver).orderBy('expires_at');
  const workspaces = await read
    .selectFrom(expired(read).select('workspace_id').limit(maxLookedAt).as('expired'))
    .select('workspace_id as workspace')
    .distinct()
    .execute();
  const removed = workspaces.map((scope) =>
    commit(scope, async (db) => {
      const subscribers = await subscribersOf(db, [scope]);
      const limit = Math.ceil(maxDeliveriesAtOnce / Math.max(1, subscribers.length));
      const own = expired(db).selectAll().where('workspace_id', '=', scope.workspace).limit(limit);
      const locks = await own.execute();
      await endLocks(db, locks.map(expiryOf), subscribers);
      return locks.length;
    }),
  );
  return (await Promise.all(removed)).reduce((sum, count) => sum + count, 0);
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
  // The second table has the locks that ended with their lease, and have not been moved to the history yet.
  const found = await periodsIn(read, 'lock_history', query)
    .unionAll(periodsIn(read, 'ended_locks', query))
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

const columns = ['path', 'fence', 'owner', 'origin', 'note', 'acquired_at', 'lock_id', 'ended_at', 'ended_by'] as const;

type PeriodRow = Pick<Selectable<Tables['lock_history']>, (typeof columns)[number]>;

const periodsIn = (read: Database, table: 'lock_history' | 'ended_locks', query: HistoryQuery) =>
  read.selectFrom(table).select(columns).where(isAsked(query));

function isAsked({ workspace, path, before }: HistoryQuery) {
  const conditions = [sql`workspace_id = ${workspace}`];
  if (path !== undefined) conditions.push(sql`path = ${path}`);
  if (before !== undefined) conditions.push(sql`(ended_at, fence) < (${before.endedAt}, ${before.fence})`);
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

const periodOf = ({ ended_at, fence: _, acquired_at, ...lock }: PeriodRow) => ({
  ...lock,
  kind: endKind(lock),
  acquired_at: asTimestamp(acquired_at),
  ended_at: asTimestamp(ended_at),
});
