import { type Selectable, sql } from 'kysely';
import type { Lock } from '../../interface/resources.ts';
import { batchQuery, textOf } from '../storage/batch-query.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { findLocks } from './find.ts';
import { recordLeaseChanges } from './history.ts';
import { type LockRow, type RecordedLock, toLock } from './lock-row.ts';

/** The rows of leases, and their locks: with a few statements for any number of them. */

/** Without its granted locks, which may be thousands. */
export type LeaseRow = Omit<Selectable<Tables['leases']>, 'granted'>;

export type LeaseKey = Readonly<Record<'workspace' | 'id', string>>;

const leaseColumns = ['id', 'workspace_id', 'token_id', 'owner', 'fingerprint', 'pool', 'state', 'size'] as const;

export const findLease = (db: Database, { workspace, id }: LeaseKey): Promise<LeaseRow | undefined> =>
  db
    .selectFrom('leases')
    .select([...leaseColumns, 'result', 'expires_at'])
    .where('workspace_id', '=', workspace)
    .where('id', '=', id)
    .executeTakeFirst();

export async function storeLease(db: Database, row: Selectable<Tables['leases']>): Promise<void> {
  const { workspace_id: _, id: __, ...columns } = row;
  await db
    .insertInto('leases')
    .values(row)
    .onConflict((conflict) => conflict.columns(['workspace_id', 'id']).doUpdateSet(columns))
    .execute();
}

/** A lease that holds nothing. */
export const newLeaseRow = (
  { workspace, id, bearer }: LeaseKey & { readonly bearer: Bearer },
  at: number,
): LeaseRow => ({
  ...{ workspace_id: workspace, id, token_id: bearer.id, owner: bearer.owner },
  ...{ fingerprint: null, pool: null, state: 'ended', size: 0, result: null, expires_at: at },
});

/** The time of a change: the same for all of its rows. */
export async function timeOf(db: Database, now: Now): Promise<number> {
  const { rows } = await sql<{ at: number }>`select ${now} as at`.execute(db);
  const [{ at } = { at: Number.NaN }] = rows;
  return at;
}

const dayMs = 24 * 60 * 60_000;

/** How long the end of a lease can be repeated: its paths may take megabytes. */
const endKeptMs = dayMs;

const forgottenAfterMs = 7 * dayMs;

/** Leases that ended so long ago that no request for them is still on its way. */
export async function removeOldLeases({ read, commit, now }: Pick<Storage, 'read' | 'commit' | 'now'>): Promise<void> {
  const before = (ms: number) => sql<boolean>`leases.expires_at < (select ${now}) - ${sql.lit(ms)}`;
  const isOld = sql<boolean>`(${before(forgottenAfterMs)} and not exists (
    select 1 from locks where locks.workspace_id = leases.workspace_id and locks.lease_id = leases.id))`;
  const hasOldEnd = sql<boolean>`(${before(endKeptMs)} and leases.result is not null)`;
  const old = read.selectFrom('leases').select('workspace_id').distinct();
  for (const { workspace_id: workspace } of await old.where(sql<boolean>`(${isOld} or ${hasOldEnd})`).execute()) {
    await commit({ workspace }, async (db) => {
      await db.deleteFrom('leases').where('workspace_id', '=', workspace).where(isOld).execute();
      await db
        .updateTable('leases')
        .set({ result: null })
        .where('workspace_id', '=', workspace)
        .where(hasOldEnd)
        .execute();
    });
  }
}

const locksOf = (db: Database, { workspace, id }: LeaseKey) =>
  db.selectFrom('locks').where('workspace_id', '=', workspace).where('lease_id', '=', id);

/** The locks of the lease that are held, in the order of its paths. */
export const heldLocks = (db: Database, now: Now, lease: LeaseKey): Promise<LockRow[]> =>
  locksOf(db, lease).selectAll().where(sql<boolean>`expires_at > (select ${now})`).orderBy('fence').execute();

/** The paths that the lease holds, up to `limit`. */
export const heldPaths = async (db: Database, now: Now, lease: LeaseKey, limit: number): Promise<string[]> => {
  const held = locksOf(db, lease).select('path').where(sql<boolean>`expires_at > (select ${now})`);
  return (await held.limit(limit).execute()).map(({ path }) => path);
};

/** Returns the number of renewed locks. */
export async function renewLocks(db: Database, { workspace, id }: LeaseKey, at: number, ttlMs: number) {
  const { numUpdatedRows } = await db
    .updateTable('locks')
    .set({ expires_at: at + ttlMs })
    .where('workspace_id', '=', workspace)
    .where('lease_id', '=', id)
    .where('expires_at', '>', at)
    .executeTakeFirstOrThrow();
  await db
    .updateTable('leases')
    .set({ expires_at: at + ttlMs })
    .where('workspace_id', '=', workspace)
    .where('id', '=', id)
    .execute();
  return Number(numUpdatedRows);
}

/** Releases what is held of the lease, and returns the paths. */
export async function unlockPaths(db: Database, now: Now, lease: LeaseKey, at: number, by: string): Promise<string[]> {
  await recordLeaseChanges(db, now, { lease, kind: 'released', at, by });
  const released = await db
    .deleteFrom('locks')
    .where('workspace_id', '=', lease.workspace)
    .where('lease_id', '=', lease.id)
    .where('expires_at', '>', at)
    .returning(['path', 'fence'])
    .execute();
  return released.toSorted((one, other) => one.fence - other.fence).map(({ path }) => path);
}

/** A lock that a lease was granted, as it is stored in `granted`. */
export type Granted = readonly [id: string, path: string];

async function grantedOf(db: Database, { workspace_id, id }: LeaseRow): Promise<readonly Granted[]> {
  const leases = db
    .selectFrom('leases')
    .select('granted')
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id);
  // Only storeLease() writes the column, with what grantedText() returns.
  return JSON.parse((await leases.executeTakeFirst())?.granted ?? '[]') as Granted[];
}

export const grantedText = (locks: readonly RecordedLock[]): string =>
  JSON.stringify(locks.map(({ id, path }): Granted => [id, path]));

export interface LostLock {
  readonly id: string;
  readonly path: string;
  readonly reason: 'expired' | 'forced' | 'released';
  /** The current holder of the path. */
  readonly lock?: Lock;
}

const selectEnds = batchQuery((db, members) =>
  db
    .selectFrom(members)
    .innerJoin('lock_history', (join) =>
      join
        .on('lock_history.workspace_id', '=', textOf('workspace'))
        .on('lock_history.path', '=', textOf('path'))
        .on('lock_id', '=', textOf('id')),
    )
    .where('kind', '!=', 'acquired')
    .select(['lock_id', 'kind']),
);

/** The locks that a lease no longer holds, and how they ended. */
export async function lostLocks(
  db: Database,
  now: Now,
  row: LeaseRow,
  held: readonly string[],
  fold: (path: string) => string | undefined,
): Promise<readonly LostLock[]> {
  if (row.size === held.length) return [];
  const stillHeld = new Set(held);
  const missing = (await grantedOf(db, row)).filter(([, path]) => !stillHeld.has(path));
  const keys = missing.map(([id, path]) => ({ workspace: row.workspace_id, id, path, foldedPath: fold(path) }));
  const ends = new Map((await selectEnds(db, now, keys)).map(({ lock_id, kind }) => [lock_id, kind]));
  const holders = await findLocks(db, now, keys);
  return missing.map(([id, path], index): LostLock => {
    const holder = holders[index];
    return { id, path, reason: reasonOf(ends.get(id)), ...(holder?.isActive && { lock: toLock(holder) }) };
  });
}

function reasonOf(end: string | undefined): LostLock['reason'] {
  if (end === 'force-released') return 'forced';
  return end === 'released' ? 'released' : 'expired';
}
