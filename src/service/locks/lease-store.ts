import { type Selectable, sql } from 'kysely';
import { byPath } from '../../interface/lock-path.ts';
import type { LostLock } from '../contract/schemas.ts';
import { recordEventsFor, subscribersOf } from '../outbox/outbox.ts';
import { removeOldOfWorkspaces } from '../storage/remove-old.ts';
import type { Database, Storage } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { findLocks, type LockRow, toLock } from './find.ts';
import { endEvent, endKind } from './history.ts';

/** The rows of leases and of their locks, with few statements for any number of locks. */

export type LeaseRow = Selectable<Tables['leases']>;

export type LeaseKey = Readonly<Record<'workspace' | 'id', string>>;

export const findLease = (db: Database, { workspace, id }: LeaseKey): Promise<LeaseRow | undefined> =>
  db.selectFrom('leases').selectAll().where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();

export async function storeLease(db: Database, row: LeaseRow): Promise<void> {
  const { workspace_id: _, id: __, ...columns } = row;
  await db
    .insertInto('leases')
    .values(row)
    .onConflict((conflict) => conflict.columns(['workspace_id', 'id']).doUpdateSet(columns))
    .execute();
}

const forgottenAfterMs = 7 * 24 * 60 * 60_000;

/** Per workspace: a few hundred megabytes. A client that ends leases in a loop must not fill the disk. */
const maxLeases = 1_000_000;

/** Removes leases that ended so long ago, or so many others ago, that no request for them can be in flight. */
export async function removeOldLeases(storage: Storage, max = maxLeases): Promise<void> {
  const locks = sql`select 1 from locks where locks.workspace_id = leases.workspace_id
    and locks.id > leases.lock_ids and locks.id < leases.lock_ids || ':' and locks.lease_id = leases.id`;
  const rows = { table: 'leases', time: 'expires_at', only: sql`not exists (${locks})` } as const;
  await removeOldOfWorkspaces(storage, { ...rows, keptForMs: forgottenAfterMs, max });
}

/** Locks acquired together share the start of their ids. Digits follow it, and sort before the colon. */
const startsLike = (column: 'id' | 'lock_id', { lock_ids }: LeaseRow) =>
  sql<boolean>`(${sql.ref(column)} > ${lock_ids} and ${sql.ref(column)} < ${`${lock_ids}:`})`;

const isOf = (lease: LeaseRow) =>
  sql<boolean>`(workspace_id = ${lease.workspace_id} and ${startsLike('id', lease)} and lease_id = ${lease.id})`;

const locksOf = (db: Database, lease: LeaseRow) => db.selectFrom('locks').where(isOf(lease));

const heldOf = (db: Database, lease: LeaseRow, at: number) =>
  locksOf(db, lease).where('expires_at', '>', at).orderBy('id');

/** The active locks of the lease, in the order of its paths. */
export const heldLocks = (db: Database, lease: LeaseRow, at: number): Promise<LockRow[]> =>
  heldOf(db, lease, at).selectAll().execute();

/** Returns the paths of renewed locks. */
export async function renewHeld(db: Database, lease: LeaseRow, at: number, expires_at: number): Promise<string[]> {
  const held = db
    .updateTable('locks')
    .set({ expires_at })
    .where(isOf(lease))
    .where('expires_at', '>', at)
    .returning('path');
  const paths = (await held.execute()).map(({ path }) => path);
  if (paths.length > 0) await storeLease(db, { ...lease, expires_at });
  return paths;
}

/** Releases the active locks of the lease, and returns their paths. fileEndedLocks() writes the history later. */
export async function releaseHeld(db: Database, lease: LeaseRow, at: number, by: string): Promise<string[]> {
  const held = heldOf(db, lease, at);
  await db
    .insertInto('ended_locks')
    .columns([...copied, 'lock_id', 'ended_at', 'ended_by'])
    .expression(held.select([...copied, 'id', sql`cast(${at} as bigint)`.as('at'), sql.val(by).as('by')]))
    .execute();
  const subscribers = await subscribersOf(db, [{ workspace: lease.workspace_id }]);
  await recordEventsFor(db, subscribers, async () =>
    (await heldLocks(db, lease, at)).map((lock) => endEvent({ lock, at, by })),
  );
  const ended = db.deleteFrom('locks').where(isOf(lease)).where('expires_at', '>', at).returning(['path', 'fence']);
  return (await ended.execute()).toSorted((one, other) => one.fence - other.fence).map(({ path }) => path);
}

const copied = ['workspace_id', 'fence', 'path', 'owner', 'origin', 'note', 'acquired_at'] as const;

/** This many locks take a few milliseconds, and other changes wait for them. */
const filedAtOnce = 250;

/**
 * Moves locks that ended with their lease to the history. Its indexes would make the end of a large lease delay others.
 * Unlike the rows of lost locks, these have no lease id. False if no locks were left.
 */
export async function fileEndedLocks({ read, commit }: Pick<Storage, 'read' | 'commit'>): Promise<boolean> {
  const first = await read
    .selectFrom('ended_locks')
    .select(['workspace_id as workspace', 'sequence'])
    .orderBy('sequence')
    .limit(1)
    .executeTakeFirst();
  if (first === undefined) return false;
  await commit(first, async (db) => {
    const isNext = sql<boolean>`(workspace_id = ${first.workspace} and sequence < ${first.sequence + filedAtOnce})`;
    const next = db.selectFrom('ended_locks').where(isNext);
    await db
      .insertInto('lock_history')
      .columns([...copied, 'lock_id', 'ended_at', 'ended_by'])
      .expression(next.select([...copied, 'lock_id', 'ended_at', 'ended_by']))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await db.deleteFrom('ended_locks').where(isNext).execute();
  });
  return true;
}

/** The paths that were released when the lease ended, in the order of its paths. */
export async function releasedPaths(db: Database, lease: LeaseRow): Promise<string[]> {
  const withIt = sql`workspace_id = ${lease.workspace_id} and ended_at = ${lease.expires_at}
    and ${startsLike('lock_id', lease)}`;
  const { rows } = await sql<{ path: string }>`
    select path, fence from lock_history where ${withIt} and lease_id is null
    union all select path, fence from ended_locks where ${withIt} order by fence`.execute(db);
  return rows.map(({ path }) => path);
}

/** Locks of the lease that ended before it did. Expired ones may not be in the history yet. */
export async function lostLocks(db: Database, lease: LeaseRow, at: number): Promise<readonly LostLock[]> {
  const workspace = lease.workspace_id;
  const expired = await locksOf(db, lease).select(['id', 'path', 'owner']).where('expires_at', '<=', at).execute();
  const recorded = await db
    .selectFrom('lock_history')
    .select(['lock_id as id', 'path', 'owner', 'ended_by'])
    .where('workspace_id', '=', workspace)
    .where('lease_id', '=', lease.id)
    // The history is kept longer than leases are: an earlier lease may have had the same id.
    .where(startsLike('lock_id', lease))
    .execute();
  // Outside of a transaction, an expired lock may have been moved to the history between the two reads.
  const all = [...expired.map((lock) => ({ ...lock, ended_by: null })), ...recorded];
  const lost = [...new Map(all.map((lock) => [lock.id, lock])).values()].toSorted(byPath);
  const keys = lost.map(({ path }) => ({ workspace, path }));
  const holders = keys.length === 0 ? [] : await findLocks(db, keys);
  return lost.map(({ id, path, ...end }, index): LostLock => {
    const holder = holders[index];
    const kind = endKind(end);
    return { id, path, reason: kind === 'force-released' ? 'forced' : kind, ...(holder && { lock: toLock(holder) }) };
  });
}
