import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql } from 'kysely';
import { milliseconds } from '../../interface/duration.ts';
import type { RequestedBy } from '../outbox/event.ts';
import { type OutboxEvent, recordEventsIn } from '../outbox/outbox.ts';
import { batchQuery, insertFrom, numbersOf, textsOf } from '../storage/batch-query.ts';
import { type Retention, removeBeyond, removeOld } from '../storage/remove-old.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { isTaken, type RecordedLock, recordedColumns, toLock } from './find.ts';

/** How locks end. Renewals are not recorded: a long job has many of them. */
export const lockEnds = ['released', 'force-released', 'expired'] as const;

/** The end of a lock. */
export type LockEnd = {
  readonly lock: RecordedLock;
  /** For an expired lock, the end of its ttl, even if it was noticed later. */
  readonly at: number;
} & (
  | { readonly kind: 'expired'; readonly by: null }
  /** The owner who released it, or the name of the operator. */
  | { readonly kind: Exclude<(typeof lockEnds)[number], 'expired'>; readonly by: string }
);

type LockChange = LockEnd | { readonly kind: 'acquired'; readonly lock: RecordedLock };

const texts = ['workspace_id', 'kind', 'path', 'lock_id', 'owner', 'origin', 'note', 'lease_id', 'ended_by'] as const;
const numbers = ['ended_at', 'fence', 'acquired_at'] as const;

const insertHistory = batchQuery((db, members) =>
  insertFrom(db, members, 'lock_history', { ...textsOf(texts), ...numbersOf(numbers) })
    // A conflict in the history must not make a request for a lock fail.
    .onConflict((conflict) => conflict.doNothing()),
);

/**
 * Writes ended locks to the history, a row for each, and queues events for the subscribed hooks. Must be called for
 * every end, in its transaction.
 */
export async function recordEnds(db: Database, now: Now, ends: readonly LockEnd[]): Promise<void> {
  if (ends.length === 0) return;
  const rows = ends.map(({ kind, lock, at, by }) => {
    const { id, type: _, expires_at: __, ...recorded } = lock;
    return { ...recorded, kind, lock_id: id, ended_at: at, ended_by: by };
  });
  await insertHistory(db, now, rows);
  await recordChanges(db, now, ends);
}

export const expiryOf = (lock: RecordedLock): LockEnd => ({ kind: 'expired', lock, at: lock.expires_at, by: null });

/** Queues events: until it ends, a lock is its own history. */
export const recordAcquired = (db: Database, now: Now, locks: readonly RecordedLock[]): Promise<void> =>
  recordChanges(
    db,
    now,
    locks.map((lock) => ({ kind: 'acquired', lock })),
  );

const recordChanges = (db: Database, now: Now, changes: readonly LockChange[]): Promise<void> =>
  recordEventsIn(db, now, new Set(changes.map(({ lock }) => lock.workspace_id)), () => changes.map(eventOf));

/** Like recordEnds(), for all locks that a lease holds, before they are removed: the database itself writes the rows. */
export async function recordLeaseEnd(
  db: Database,
  now: Now,
  { lease, at, by }: { readonly lease: Readonly<Record<'workspace' | 'id', string>>; readonly at: number; by: string },
): Promise<void> {
  const held = db
    .selectFrom('locks')
    .where('workspace_id', '=', lease.workspace)
    .where('lease_id', '=', lease.id)
    .where('expires_at', '>', at);
  await db
    .insertInto('lock_history')
    .columns([...copied, 'lock_id', 'kind', 'ended_at', 'ended_by'])
    .expression(
      held.select([
        ...copied,
        'id',
        sql`'released'`.as('kind'),
        sql`cast(${at} as bigint)`.as('at'),
        sql.val(by).as('by'),
      ]),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const released = (lock: RecordedLock) => eventOf({ kind: 'released', lock, at, by });
  await recordEventsIn(db, now, new Set([lease.workspace]), async () =>
    (await held.select(recordedColumns).orderBy('fence').execute()).map(released),
  );
}

/** Columns of a lock that its history has as well. */
const copied = ['workspace_id', 'fence', 'path', 'owner', 'origin', 'note', 'acquired_at', 'lease_id'] as const;

/** More than jobs add in 90 days, and too few for a client that locks in a loop to fill the disk. */
const maxRowsOfWorkspace = 5_000_000;

export async function removeOldLockHistory(
  storage: Storage,
  { keepLockHistory }: Pick<Retention, 'keepLockHistory'>,
): Promise<void> {
  const rows = { table: 'lock_history', time: 'ended_at' } as const;
  const workspaces = await storage.read.selectFrom('workspaces').select('id').execute();
  for (const { id: workspace } of workspaces) {
    await yieldToEventLoop();
    await removeOld(storage, { ...rows, workspace, keptForMs: milliseconds(keepLockHistory) });
    await removeBeyond(storage, { ...rows, workspace }, { max: maxRowsOfWorkspace, countedAtOnce: 50_000 });
  }
}

export function requestedEvent(lock: RecordedLock, request: RequestedBy, at: number): OutboxEvent {
  const { data, ...about } = aboutLock(lock, at);
  return { type: 'lock.requested', ...about, data: { ...data, request } };
}

export function eventOf(change: LockChange): OutboxEvent {
  const { kind, lock } = change;
  const { data, ...about } = aboutLock(lock, kind === 'acquired' ? lock.acquired_at : change.at);
  switch (kind) {
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

const aboutLock = (lock: RecordedLock, at: number) => ({
  workspace: lock.workspace_id,
  occurredAt: asTimestamp(at),
  data: { lock: toLock(lock) },
});

/** Limit per transaction: an expired lock may be reported to many hooks, and other changes wait meanwhile. */
const maxDeliveriesAtOnce = 500;

/** Number of expired locks read to find their workspaces. The next call finds the others. */
const maxLookedAt = 10_000;

/**
 * Removes expired locks whose paths are open again, and queues their events, in one transaction per workspace, so that a
 * workspace with many does not delay others. It is not urgent: these locks block nobody. Returns the number of removed
 * locks; if not 0, more may remain.
 */
export async function removeExpiredLocks({ read, now, commit }: Storage): Promise<number> {
  const workspaces = await read
    .selectFrom((from) =>
      from
        .selectFrom('locks')
        .select('workspace_id')
        .where(isOver(now))
        .orderBy('expires_at')
        .limit(maxLookedAt)
        .as('expired'),
    )
    .select('workspace_id as id')
    .distinct()
    .execute();
  const removedFrom = (workspace: string): Promise<number> =>
    commit({ workspace }, async (db) => {
      const { hooks } = await db
        .selectFrom('hooks')
        .select(({ fn }) => fn.countAll<number>().as('hooks'))
        .where('workspace_id', '=', workspace)
        .where('active', '=', 1)
        .executeTakeFirstOrThrow();
      const removed = await db
        .deleteFrom('locks')
        .where('workspace_id', '=', workspace)
        .where('path', 'in', (from) =>
          from
            .selectFrom('locks')
            .select('path')
            .where('workspace_id', '=', workspace)
            .where(isOver(now))
            .orderBy('expires_at')
            .limit(Math.ceil(maxDeliveriesAtOnce / Math.max(1, Number(hooks)))),
        )
        .where(isOver(now))
        .returningAll()
        .execute();
      await recordEnds(db, now, removed.map(expiryOf));
      return removed.length;
    });
  const removed = await Promise.all(workspaces.map(({ id }) => removedFrom(id)));
  return removed.reduce((sum, count) => sum + count, 0);
}

/** With a subquery, because PostgreSQL uses the index only if the time is evaluated once. */
function isOver(now: Now) {
  const time = sql<number>`(select ${now})`;
  return sql<boolean>`(expires_at <= ${time} and not ${isTaken(time)})`;
}
