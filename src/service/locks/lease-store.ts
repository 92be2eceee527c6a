import { type Selectable, sql } from 'kysely';
import type { LockPath } from '../../interface/lock-path.ts';
import { isRefused } from '../../interface/outdated.ts';
import type { Compared, Lock } from '../../interface/resources.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { findLocks, type LockKey, type RecordedLock, recordedColumns, toLock } from './find.ts';
import { recordLeaseEnd } from './history.ts';
import { isOwnLock } from './release.ts';
import type { LockRequest } from './store-locks.ts';
import { type LockTerms, type Place, type TakeDecision, take } from './take.ts';

/** The rows of leases, and their locks: with a few statements for any number of them. */

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

/** The time of a change: the same for all of its rows. */
export async function timeOf(db: Database, now: Now): Promise<number> {
  const { rows } = await sql<{ at: number }>`select ${now} as at`.execute(db);
  const [{ at } = { at: Number.NaN }] = rows;
  return at;
}

const forgottenAfterMs = 7 * 24 * 60 * 60_000;

/** Leases that ended so long ago that no request for them is still on its way. */
export async function removeOldLeases({ read, commit, now }: Pick<Storage, 'read' | 'commit' | 'now'>): Promise<void> {
  const isOld = sql<boolean>`(leases.expires_at < (select ${now}) - ${sql.lit(forgottenAfterMs)} and not exists (
    select 1 from locks where locks.workspace_id = leases.workspace_id and locks.lease_id = leases.id))`;
  const old = read.selectFrom('leases').select('workspace_id').distinct().where(isOld);
  for (const { workspace_id: workspace } of await old.execute()) {
    await commit({ workspace }, async (db) => {
      const ofWorkspace = db.selectFrom('leases').select('id').where('workspace_id', '=', workspace).where(isOld);
      // The history stays longer: the id may be used again, by a lease that lost none of these locks.
      await db
        .updateTable('lock_history')
        .set({ lease_id: null })
        .where('workspace_id', '=', workspace)
        .where('lease_id', 'in', ofWorkspace)
        .execute();
      await db.deleteFrom('leases').where('workspace_id', '=', workspace).where(isOld).execute();
    });
  }
}

const locksOf = (db: Database, { workspace, id }: LeaseKey) =>
  db.selectFrom('locks').where('workspace_id', '=', workspace).where('lease_id', '=', id);

/** The locks of the lease that are held, in the order of its paths. */
export const heldLocks = (db: Database, lease: LeaseKey, at: number): Promise<RecordedLock[]> =>
  locksOf(db, lease).select(recordedColumns).where('expires_at', '>', at).orderBy('fence').execute();

/** The paths that the lease holds, up to `limit`. */
export const heldPaths = async (db: Database, lease: LeaseKey, at: number, limit: number): Promise<string[]> => {
  const held = locksOf(db, lease).select('path').where('expires_at', '>', at);
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
  await recordLeaseEnd(db, now, { lease, at, by });
  const released = await db
    .deleteFrom('locks')
    .where('workspace_id', '=', lease.workspace)
    .where('lease_id', '=', lease.id)
    .where('expires_at', '>', at)
    .returning(['path', 'fence'])
    .execute();
  return pathsInOrder(released);
}

export interface LostLock {
  readonly id: string;
  readonly path: string;
  readonly reason: 'expired' | 'forced' | 'released';
  /** The current holder of the path. */
  readonly lock?: Lock;
}

export interface LeaseEnd {
  readonly released: readonly string[];
  readonly lost: readonly LostLock[];
}

/** The locks of a lease that have ended: those that its own end released, and those that it had lost before. */
export async function endedLocks(
  db: Database,
  now: Now,
  row: LeaseRow,
  at: number,
  fold: (path: string) => string | undefined,
): Promise<LeaseEnd> {
  const lease = { workspace: row.workspace_id, id: row.id };
  const expired = locksOf(db, lease)
    .select(['id', 'path', 'fence', sql<string>`'expired'`.as('kind'), 'expires_at as ended_at'])
    .where('expires_at', '<=', at);
  const recorded = db
    .selectFrom('lock_history')
    .select(['lock_id as id', 'path', 'fence', 'kind', 'ended_at'])
    .where('workspace_id', '=', lease.workspace)
    .where('lease_id', '=', lease.id);
  const ended = await recorded.unionAll(expired).execute();
  const isReleased = ({ kind, ended_at }: (typeof ended)[number]) =>
    row.state === 'ended' && kind === 'released' && ended_at === row.expires_at;
  const missing = ended.filter((lock) => !isReleased(lock)).toSorted(byFence);
  const keys = missing.map(({ path }) => ({ workspace: lease.workspace, path, foldedPath: fold(path) }));
  const holders = missing.length === 0 ? [] : await findLocks(db, now, keys);
  return {
    released: pathsInOrder(ended.filter(isReleased)),
    lost: missing.map(({ id, path, kind }, index): LostLock => {
      const holder = holders[index];
      return { id, path, reason: reasonOf(kind), ...(holder?.isActive && { lock: toLock(holder) }) };
    }),
  };
}

interface Ordered {
  readonly path: string;
  readonly fence: number;
}

const byFence = (one: Ordered, other: Ordered): number => one.fence - other.fence;

/** The order of the request. */
const pathsInOrder = (locks: readonly Ordered[]): string[] => locks.toSorted(byFence).map(({ path }) => path);

function reasonOf(end: string): LostLock['reason'] {
  if (end === 'force-released') return 'forced';
  return end === 'expired' ? end : 'released';
}

export interface LeaseRequest extends LeaseKey, Omit<LockRequest, 'workspace' | 'lease'> {
  /** Hash of the request: another request with the same id is refused. */
  readonly fingerprint: string;
  /** The requested paths, each once. The paths of a pool may change while the lease waits. */
  readonly readPaths: (db: Database) => Promise<readonly LockPath[]>;
  readonly pool?: string | undefined;
  /** How many of the paths are wanted; undefined for all. */
  readonly count: number | undefined;
  readonly compare: (paths: readonly LockPath[]) => Promise<Compared>;
}

export type TakeLeaseDecision =
  | (Extract<TakeDecision, { readonly kind: 'granted' }> & { readonly row: LeaseRow })
  | Exclude<TakeDecision, { readonly kind: 'granted' }>
  | { readonly kind: 'outdated' }
  | { readonly kind: 'another-owner' | 'another-request' }
  /** The pool has fewer items now. */
  | { readonly kind: 'too-few-paths'; readonly paths: number };

export interface TakeOptions extends LockTerms {
  readonly now: Now;
  readonly fold: (path: string) => string | undefined;
}

/** Decides a lease that has not been granted, in a transaction. One that has a place is in line afterwards, if it must wait. */
export async function takeLease(
  db: Database,
  { now, fold, ...terms }: TakeOptions,
  { readPaths, compare: _, id: lease, count, ...request }: LeaseRequest,
  comparison: Compared,
  place: Place | undefined,
): Promise<TakeLeaseDecision> {
  const paths = await readPaths(db);
  const wanted = count ?? paths.length;
  if (paths.length < wanted || wanted === 0) return { kind: 'too-few-paths', paths: paths.length };
  const keys = lockableKeys(request.workspace, paths, comparison, fold);
  if (keys.length < wanted) return { kind: 'outdated' };
  const { workspace, bearer, fingerprint, pool = null } = request;
  const waitId = waitIdOf({ workspace, id: lease });
  const wait = await findWait(db, waitId);
  if (wait !== undefined && !isOwnLock(wait, bearer)) return { kind: 'another-owner' };
  if (wait !== undefined && wait.fingerprint !== fingerprint) return { kind: 'another-request' };
  // A list without refused paths, then and now, is the same: reading thousands of paths is not needed to tell.
  const mayVary = pool !== null || keys.length < paths.length;
  const [decision] = await take(db, now, [{ ...request, lease, keys, wanted, waitId, place, mayVary }], terms);
  if (decision === undefined) throw new Error('The request was not decided.');
  if (decision.kind !== 'granted') return decision;
  const expires_at = decision.locks[0]?.expires_at ?? Number.NaN;
  const row: LeaseRow = {
    ...{ workspace_id: workspace, id: lease, owner: bearer.owner, fingerprint, pool, state: 'held', expires_at },
  };
  await storeLease(db, row);
  return { ...decision, row };
}

/** The id of its wait in line. */
export const waitIdOf = ({ workspace, id }: LeaseKey): string => `${workspace} ${id}`;

export const findWait = (db: Database, id: string) =>
  db.selectFrom('waits').selectAll().where('id', '=', id).executeTakeFirst();

/** Each path that may be locked. */
function lockableKeys(
  workspace: string,
  paths: readonly LockPath[],
  comparison: Compared,
  fold: (path: string) => string | undefined,
): readonly LockKey[] {
  const { outdated, gap } = comparison;
  // Without a comparison that the workspace requires, no path may be locked.
  if (gap !== undefined && isRefused(comparison)) return [];
  const refused = new Set(isRefused(comparison) ? outdated.map(({ path }) => path) : []);
  const keys = paths
    .filter((path) => !refused.has(path))
    .map((path): LockKey => ({ workspace, path, foldedPath: fold(path) }));
  return [...new Map(keys.map((key) => [key.foldedPath ?? key.path, key])).values()];
}
