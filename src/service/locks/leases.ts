import { milliseconds, type Ttl } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Compared } from '../../interface/resources.ts';
import { invalid, Refusal } from '../contract/response.ts';
import type { LostLock } from '../contract/schemas.ts';
import type { Database, Storage } from '../storage/storage.ts';
import { timeOf } from '../storage/timestamp.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { isOwnLock } from './change-lock.ts';
import type { LockRow } from './find.ts';
import {
  findLease,
  heldLocks,
  type LeaseKey,
  type LeaseRow,
  lostLocks,
  releasedPaths,
  releaseHeld,
  renewHeld,
  storeLease,
} from './lease-store.ts';
import { placeInLine } from './queue.ts';
import type { Blocked } from './refusals.ts';
import { type LockRequest, sharedIdOf } from './store-locks.ts';
import { blockedNow, type TakeRules, take } from './take.ts';
import { type Place, waitIds } from './wait-terms.ts';
import { findWait, keysOfWait, removeWaits } from './waits.ts';

/** Leases: sets of locks that are taken, renewed and released as one. */

export interface LeaseRequest extends LeaseKey, Omit<LockRequest, 'workspace' | 'lease'> {
  /** Hash of the body. A request with a known id and another hash is refused. */
  readonly fingerprint: string;
  /** The requested paths, without duplicates. The paths of a pool may change while the lease waits. */
  readonly readPaths: (db: Database) => Promise<readonly LockPath[]>;
  readonly pool?: string | undefined;
  /** Number of paths wanted; undefined for all. */
  readonly count: number | undefined;
  readonly compare: (paths: readonly LockPath[]) => Promise<Compared>;
}

/** A lease that was granted. It has ended if it holds no locks. */
export interface KnownLease {
  readonly kind: 'granted';
  readonly isNew: boolean;
  readonly row: LeaseRow;
  readonly locks: readonly LockRow[];
  readonly lost: readonly LostLock[];
  /** For a request. */
  readonly comparison?: Compared;
}

type LeaseDecision = KnownLease | Blocked | Refusal;

/**
 * Returns the lease, whether it is granted now or was before. If it must wait and the request has a place, it is in
 * line afterwards. Throws if the lease has ended.
 */
export async function takeLease(
  { read, commit }: Pick<Storage, 'read' | 'commit'>,
  request: LeaseRequest,
  place: Place | undefined,
  rules: TakeRules,
): Promise<LeaseDecision> {
  const before = await known(read, request);
  // The paths of a pool may have changed since the grant. Locked paths were parsed when they were locked.
  const held = before?.locks.map(({ path }) => path as LockPath);
  const comparison = await request.compare(held ?? (await request.readPaths(read)));
  const decide = async (db: Database) => (await known(db, request)) ?? takeNew(db, request, comparison, place, rules);
  const decision = before ?? (await commit(request, decide));
  return decision.kind === 'granted' ? { ...decision, comparison } : decision;
}

/** The lease, if it was granted before. Throws if it has ended. */
async function known(db: Database, request: LeaseRequest): Promise<KnownLease | undefined> {
  const { id, bearer, fingerprint } = request;
  const { row, found } = await findLeaseOrWait(db, request, bearer);
  // No fingerprint: the lease was ended before this request arrived.
  if ((found?.fingerprint ?? fingerprint) !== fingerprint) {
    const detail = `The lease ${id} was already requested with a different body. Use a new id for each lease.`;
    throw new Refusal('lease-reused', detail);
  }
  const state = row && (await stateOf(db, row));
  if (state?.locks.length === 0) throw leaseEnded(id, state.lost);
  return state;
}

async function stateOf(db: Database, row: LeaseRow): Promise<KnownLease> {
  const at = await timeOf(db);
  const locks = await heldLocks(db, row, at);
  const lost = await lostLocks(db, row, at);
  // A lock may have ended between the two reads.
  const held = new Set(locks.map(({ id }) => id));
  return { kind: 'granted', isNew: false, row, locks, lost: lost.filter(({ id }) => !held.has(id)) };
}

async function takeNew(
  db: Database,
  { readPaths, compare: _, id: lease, count, ...request }: LeaseRequest,
  comparison: Compared,
  place: Place | undefined,
  rules: TakeRules,
): Promise<LeaseDecision> {
  const { workspace, bearer, fingerprint, pool = null } = request;
  const keys = (await readPaths(db)).map((path) => ({ workspace, path }));
  const wanted = count ?? keys.length;
  if (keys.length < wanted) {
    throw invalid({ pointer: '#/count', detail: `It must be at most ${keys.length}, the number of paths.` });
  }
  const waitId = waitIds.ofLease({ workspace, id: lease });
  const [decision] = await take(db, [{ ...request, lease, keys, wanted, waitId, place, comparison }], rules);
  if (decision === undefined) throw new Error('take() returned no decision.');
  if (decision.kind !== 'granted') return decision;
  const { locks } = decision;
  const [first] = locks;
  if (first === undefined) throw new Error('The grant contains no lock.');
  const row: LeaseRow = {
    workspace_id: workspace,
    id: lease,
    owner: bearer.owner,
    fingerprint,
    pool,
    lock_ids: sharedIdOf(first.id),
    expires_at: first.expires_at,
  };
  await storeLease(db, row);
  return { kind: 'granted', isNew: true, row, locks, lost: [] };
}

export async function readLease(read: Database, key: LeaseKey, bearer: Bearer) {
  const { row, wait } = await findLeaseOrWait(read, key, bearer);
  if (row !== undefined && row.fingerprint !== null) return stateOf(read, row);
  if (wait === undefined) throw noSuchLease(key.id);
  const { id: waitId, wanted } = wait;
  const keys = await keysOfWait(read, waitId);
  const blocked = await blockedNow(read, { keys, wanted, waitId, bearer });
  return { ...blocked, queue: await placeInLine(read, waitId) };
}

export async function renewLease(db: Database, key: LeaseKey, bearer: Bearer, ttl: Ttl) {
  const { row } = await findLeaseOrWait(db, key, bearer);
  if (row === undefined) throw noSuchLease(key.id);
  const at = await timeOf(db);
  const expiresAt = at + milliseconds(ttl);
  const held = await renewHeld(db, row, at, expiresAt);
  const lost = await lostLocks(db, row, at);
  if (held.length === 0) throw leaseEnded(key.id, lost);
  return { expiresAt, held, lost };
}

/**
 * Ends the lease for good, even if it was never requested (the result is then undefined): a request that arrives later
 * gets no locks. If nothing is released, `admitEmpty` is called, and may throw.
 */
export async function endLease(db: Database, key: LeaseKey, bearer: Bearer, admitEmpty: () => void) {
  const { row, wait } = await findLeaseOrWait(db, key, bearer);
  const at = await timeOf(db);
  if (row === undefined) {
    if (wait === undefined) admitEmpty();
    const requested = { owner: bearer.owner, fingerprint: wait?.fingerprint ?? null, pool: null, lock_ids: '' };
    await storeLease(db, { workspace_id: key.workspace, id: key.id, ...requested, expires_at: at });
    if (wait === undefined) return undefined;
    await removeWaits(db, [wait]);
    return { released: [], lost: [], changed: [] };
  }
  const changed = await releaseHeld(db, row, at, bearer.owner);
  if (changed.length > 0) await storeLease(db, { ...row, expires_at: at });
  else admitEmpty();
  if (row.fingerprint === null) return undefined;
  const released = changed.length > 0 ? changed : await releasedPaths(db, row);
  return { released, lost: await lostLocks(db, row, at), changed };
}

/** The lease if it was granted or has ended, or else its wait in line. Throws if it belongs to another owner. */
async function findLeaseOrWait(db: Database, key: LeaseKey, bearer: Bearer) {
  const row = await findLease(db, key);
  const wait = row === undefined ? await findWait(db, waitIds.ofLease(key)) : undefined;
  const found = row ?? wait;
  if (found === undefined || isOwnLock(found, bearer)) return { row, wait, found };
  throw new Refusal('lease-of-another-owner', `The lease ${key.id} belongs to another owner.`);
}

const noSuchLease = (id: string): Refusal =>
  new Refusal('not-found', `There is no lease ${id}: it was never granted, or ended more than 7 days ago.`);

const leaseEnded = (id: string, lost: readonly LostLock[]): Refusal =>
  new Refusal('lease-ended', `The lease ${id} has ended and holds no locks.`, { lost: [...lost] });
