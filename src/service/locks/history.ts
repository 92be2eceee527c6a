import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql } from 'kysely';
import { milliseconds } from '../../interface/duration.ts';
import type { RequestedBy } from '../outbox/event.ts';
import { hasSubscribers, type OutboxEvent, recordEvents } from '../outbox/outbox.ts';
import { batchQuery, insertFrom, numbersOf, textsOf } from '../storage/batch-query.ts';
import { type Retention, removeBeyond, removeOld } from '../storage/remove-old.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { isTaken } from './find.ts';
import { type RecordedLock, toLock } from './lock-row.ts';

/** Kinds of changes in the history. Renewals are not recorded: a long job has many of them. */
export const lockChangeKinds = ['acquired', 'released', 'force-released', 'expired'] as const;

export type LockChange =
  | { readonly kind: 'acquired' | 'expired'; readonly lock: RecordedLock }
  | {
      readonly kind: 'released' | 'force-released';
      readonly lock: RecordedLock;
      readonly at: number;
      /** The owner who released it, or the name of the operator. */
      readonly by: string;
    };

const texts = ['workspace_id', 'kind', 'path', 'lock_id', 'owner', 'origin', 'note', 'ended_by'] as const;
const numbers = ['at', 'fence'] as const;

const insertHistory = batchQuery((db, members) =>
  insertFrom(db, members, 'lock_history', { ...textsOf(texts), ...numbersOf(numbers) })
    // A conflict in the history must not make a request for a lock fail.
    .onConflict((conflict) => conflict.doNothing()),
);

/**
 * Writes acquired and ended locks to the history, and queues events for the subscribed hooks. Must be called for every
 * such change, in its transaction.
 */
export async function recordLockChanges(db: Database, now: Now, changes: readonly LockChange[]): Promise<void> {
  if (changes.length === 0) return;
  await insertHistory(db, now, changes.map(historyRow));
  await recordEvents(db, now, changes.map(eventOf));
}

interface LeaseChange {
  readonly lease: Readonly<Record<'workspace' | 'id', string>>;
  readonly kind: 'acquired' | 'released';
  readonly at: number;
  readonly by: string | null;
}

/** Like recordLockChanges(), for all locks that a lease holds: the rows are written by the database itself. */
export async function recordLeaseChanges(db: Database, now: Now, { lease, kind, at, by }: LeaseChange): Promise<void> {
  const time = sql`cast(${at} as bigint)`;
  await sql`
    insert into lock_history (workspace_id, at, fence, kind, path, lock_id, owner, origin, note, ended_by)
    select workspace_id, ${time}, fence, ${kind}, path, id, owner, origin, note, ${by} from locks
    where workspace_id = ${lease.workspace} and lease_id = ${lease.id} and expires_at > ${time}
    on conflict do nothing`.execute(db);
  if (!(await hasSubscribers(db, lease.workspace))) return;
  const locks = await db
    .selectFrom('locks')
    .selectAll()
    .where('workspace_id', '=', lease.workspace)
    .where('lease_id', '=', lease.id)
    .where('expires_at', '>', at)
    .orderBy('fence')
    .execute();
  const eventOfLock = (lock: RecordedLock) =>
    eventOf(kind === 'acquired' ? { kind, lock } : { kind, lock, at, by: by ?? lock.owner });
  await recordEvents(db, now, locks.map(eventOfLock));
}

/** More than jobs add in 90 days, and too few for a client that locks in a loop to fill the disk. */
const maxRowsOfWorkspace = 5_000_000;

export async function removeOldLockHistory(
  storage: Storage,
  { keepLockHistory }: Pick<Retention, 'keepLockHistory'>,
): Promise<void> {
  const { read, now } = storage;
  const keptForMs = milliseconds(keepLockHistory);
  const rows = { table: 'lock_history', time: 'at' } as const;
  const workspaces = await read
    .selectFrom('workspaces')
    .select('id')
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom('lock_history')
          .select('at')
          .whereRef('workspace_id', '=', 'workspaces.id')
          .where('at', '<=', sql<number>`(select ${now}) - ${sql.lit(keptForMs)}`),
      ).as('has_old'),
    )
    .execute();
  for (const { id: workspace, has_old } of workspaces) {
    await yieldToEventLoop();
    if (has_old) await removeOld(storage, { ...rows, workspace, keptForMs });
    await removeBeyond(storage, { ...rows, workspace }, { max: maxRowsOfWorkspace, countedAtOnce: 50_000 });
  }
}

export function requestedEvent(lock: RecordedLock, request: RequestedBy, at: number): OutboxEvent {
  const { data, ...about } = aboutLock(lock, at);
  return { type: 'lock.requested', ...about, data: { ...data, request } };
}

export function eventOf(change: LockChange): OutboxEvent {
  const { kind, lock } = change;
  const { data, ...about } = aboutLock(lock, timeOf(change));
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

function historyRow(change: LockChange) {
  const { kind, lock } = change;
  const { workspace_id, fence, path, id: lock_id, owner, origin, note } = lock;
  const ended_by = 'by' in change ? change.by : null;
  return { workspace_id, at: timeOf(change), fence, kind, path, lock_id, owner, origin, note, ended_by };
}

/** The time of expiry is the end of the ttl, even if it was noticed later. */
function timeOf(change: LockChange): number {
  if ('at' in change) return change.at;
  return change.kind === 'acquired' ? change.lock.acquired_at : change.lock.expires_at;
}

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
    .select('workspace_id')
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
      const changes = removed.map((lock) => ({ kind: 'expired' as const, lock }));
      await recordLockChanges(db, now, changes);
      return removed.length;
    });
  const removed = await Promise.all(workspaces.map(({ workspace_id }) => removedFrom(workspace_id)));
  return removed.reduce((sum, count) => sum + count, 0);
}

/** With a subquery, because PostgreSQL uses the index only if the time is evaluated once. */
function isOver(now: Now) {
  const time = sql<number>`(select ${now})`;
  return sql<boolean>`(expires_at <= ${time} and not ${isTaken(time)})`;
}
