import type { LockPath } from '../../interface/lock-path.ts';
import type { QueuePosition } from '../../interface/problem.ts';
import type { Compared, LockType } from '../../interface/resources.ts';
import type { BranchName } from '../git/branch-name.ts';
import type { Database, Storage } from '../storage/storage.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { isKeptFor, linePathOf, type Place } from './acquire.ts';
import { findLocks, type LockKey } from './find.ts';
import { type Blocked, blockedBy } from './lease-blocked.ts';
import {
  findLease,
  grantedText,
  heldLocks,
  type LeaseKey,
  type LeaseRow,
  type LostLock,
  lockPaths,
  lostLocks,
  renewLocks,
  storeLease,
  timeOf,
  unlockPaths,
} from './lease-store.ts';
import { keptFor } from './line.ts';
import type { LockQuota, QuotaExceeded } from './lock-quota.ts';
import type { LockRow } from './lock-row.ts';
import { leasePosition } from './queue.ts';
import { isOwnLock } from './release.ts';
import type { Attempt, WaitInLine, WaitOptions } from './wait-in-line.ts';
import { joinLine, type LinePath, pathsOfWait, removeWaits, type WaitRequest } from './waits.ts';

/** Leases: sets of locks that are taken, renewed and released as one. */

export interface LeaseRequest extends LeaseKey {
  readonly bearer: Bearer;
  readonly origin: string | null;
  /** Hash of the request: another request with the same id is refused. */
  readonly fingerprint: string;
  /** Each once. */
  readonly paths: readonly LockPath[];
  readonly pool?: string | undefined;
  /** How many of the paths are wanted. */
  readonly count: number;
  readonly type: LockType;
  readonly ttlMs: number;
  readonly note: string | null;
  readonly branch?: BranchName | undefined;
  readonly compare: () => Promise<Compared>;
  readonly waitOptions?: WaitOptions | undefined;
}

export interface HeldLease {
  readonly kind: 'held';
  readonly row: LeaseRow;
  readonly locks: readonly LockRow[];
  readonly lost: readonly LostLock[];
}

/** In line. */
export interface WaitingLease {
  readonly kind: 'waiting';
  readonly blocked: Blocked;
  readonly queue: QueuePosition;
}

interface EndedLease {
  readonly kind: 'ended';
  readonly row: LeaseRow;
  readonly end: LeaseEnd | null;
}

type Inaccessible = { readonly kind: 'another-owner' | 'absent' };

export type LeaseDecision =
  | (HeldLease & { readonly isNew: boolean; readonly comparison?: Compared })
  | { readonly kind: 'outdated'; readonly comparison: Compared }
  | { readonly kind: 'another-request' | 'superseded' | 'too-many-waits' }
  | (WaitingLease & { readonly waited: boolean })
  | Blocked
  | { readonly kind: 'invalid-path'; readonly index: number; readonly reason: string }
  | EndedLease
  | QuotaExceeded
  | Inaccessible;

export interface LeaseEnd {
  readonly released: readonly string[];
  readonly lost: readonly LostLock[];
}

interface LeasesOptions {
  readonly storage: Pick<Storage, 'commit' | 'read' | 'now'>;
  readonly quota: LockQuota;
  readonly fold: (path: string) => string | undefined;
  /** Why nobody may lock a path. */
  readonly pathProblem: (path: LockPath) => string | undefined;
  readonly line: WaitInLine;
  /** Called when a lease has left these lines, or more than can be named. */
  readonly onLinesChange: (lines: readonly LinePath[] | undefined) => void;
  /** Called with the paths whose locks have begun, have ended, or end at another time. */
  readonly onChange: (keys: readonly LockKey[]) => void;
}

export function createLeases(options: LeasesOptions) {
  const { storage, quota, line, fold, pathProblem, onChange, onLinesChange } = options;
  const { now } = storage;

  async function stateOf(db: Database, row: LeaseRow): Promise<HeldLease | EndedLease> {
    if (row.state === 'ended') return { kind: 'ended', row, end: endOf(row) };
    const locks = await heldLocks(db, now, { workspace: row.workspace_id, id: row.id });
    const lost = await lostLocks(db, now, row, locks, fold);
    return locks.length > 0 ? { kind: 'held', row, locks, lost } : { kind: 'ended', row, end: { released: [], lost } };
  }

  async function waitingState(id: string, wanted: number): Promise<WaitingLease> {
    const paths = await pathsOfWait(storage.read, id, Number.MAX_SAFE_INTEGER);
    const keys = paths.map(({ workspace, path, askedPath }) => ({ workspace, path: askedPath, foldedPath: path }));
    const found = await findLocks(storage.read, now, keys);
    const kept = await keptFor(storage.read, now, keys.filter((_, index) => !found[index]?.isActive).map(linePathOf));
    return { kind: 'waiting', blocked: blockedBy(wanted, keys, found, kept), queue: await leasePosition(storage, id) };
  }

  async function known(db: Database, request: LeaseRequest): Promise<LeaseDecision | undefined> {
    const row = await findLease(db, request);
    if (row === undefined) return undefined;
    if (!isOwnLock(row, request.bearer)) return { kind: 'another-owner' };
    // It was ended before this request arrived.
    if (row.fingerprint !== null && row.fingerprint !== request.fingerprint) return { kind: 'another-request' };
    const state = await stateOf(db, row);
    return state.kind === 'held' ? { ...state, isNew: false } : state;
  }

  async function take(
    db: Database,
    request: LeaseRequest,
    comparison: Compared,
    place: Place | undefined,
  ): Promise<LeaseDecision> {
    const before = await known(db, request);
    if (before !== undefined) return before;
    const keys = wantedKeys(request, comparison, fold);
    if (keys.length < request.count) return { kind: 'outdated', comparison };
    const waitId = waitIdOf(request);
    const wait = await findWait(db, waitId);
    if (wait !== undefined) {
      if (!isOwnLock(wait, request.bearer)) return { kind: 'another-owner' };
      if (wait.fingerprint !== request.fingerprint) return { kind: 'another-request' };
    }
    if (place?.isFirst === false && wait?.request_id !== place.requestId) return { kind: 'superseded' };
    const first = await grantOrBlock(db, request, comparison, keys);
    if (first.kind !== 'blocked' || place === undefined) {
      // Without Prefer, it no longer waits.
      if (wait !== undefined) await removeWaits(db, now, [wait]);
      return first;
    }
    const [isInLine] = await joinLine(db, now, [waitOf(request, keys, place)]);
    if (!isInLine) return { kind: 'too-many-waits' };
    // In line, it may be before the one that a path was kept for.
    const second = first.next === undefined ? first : await grantOrBlock(db, request, comparison, keys);
    if (second.kind === 'held') await removeWaits(db, now, [{ id: waitId }]);
    return second;
  }

  async function grantOrBlock(
    db: Database,
    request: LeaseRequest,
    comparison: Compared,
    keys: readonly LockKey[],
  ): Promise<LeaseDecision> {
    const { workspace, id, bearer, origin, note, ttlMs, count } = request;
    const found = await findLocks(db, now, keys);
    const free = keys.filter((_, index) => !found[index]?.isActive);
    const kept = free.length < count ? [] : await keptFor(db, now, free.map(linePathOf));
    const waitId = waitIdOf(request);
    const open = free.filter((_, index) => {
      const next = kept[index];
      return next === undefined || isKeptFor(next, waitId, bearer);
    });
    if (free.length < count || open.length < count) return blockedBy(request.count, keys, found, kept);
    const exceeded = await quota(db, now, Array(count).fill({ workspace, owner: bearer.owner }));
    const [over] = exceeded.filter((each) => each !== undefined);
    if (over !== undefined) return over;
    const at = await timeOf(db, now);
    const taken = open.slice(0, count);
    const paths = new Set<string>(taken.map(({ path }) => path));
    const replaced = found.flatMap((lock) => (lock?.isActive === false && paths.has(lock.path) ? lock : []));
    const common = { lease: { workspace, id }, tokenId: bearer.id, owner: bearer.owner, origin, note, ttlMs, at };
    const locks = await lockPaths(db, now, { ...common, branch: request.branch, type: request.type }, taken, replaced);
    const asks = kept.flatMap((next) => (next?.kind === 'ask' && next.owner === bearer.owner ? next : []));
    if (asks.length > 0) await removeWaits(db, now, asks);
    const row: LeaseRow = {
      ...emptyRow(request, at),
      ...{ origin, note, fingerprint: request.fingerprint, pool: request.pool ?? null },
      ...{ state: 'held', ttl: ttlMs, granted: grantedText(locks), expires_at: at + ttlMs },
    };
    await storeLease(db, row);
    return { kind: 'held', row, locks, lost: [], isNew: true, comparison };
  }

  async function attempt(request: LeaseRequest, place?: Place): Promise<Attempt<LeaseDecision>> {
    const comparison = await request.compare();
    const decision = await storage.commit(request, (db) => take(db, request, comparison, place));
    if (decision.kind === 'held' && decision.isNew) onChange(keysOf(decision.locks));
    if (decision.kind === 'blocked') return { decision, watched: decision.watched };
    return { decision, isRefused: decision.kind !== 'held' };
  }

  return {
    async put(request: LeaseRequest): Promise<LeaseDecision> {
      const before = await known(storage.read, request);
      if (before !== undefined) return before;
      const problems = request.paths.map(pathProblem);
      const index = problems.findIndex((reason) => reason !== undefined);
      if (index >= 0) return { kind: 'invalid-path', index, reason: problems[index] ?? '' };
      const { waitOptions, workspace, bearer } = request;
      if (waitOptions === undefined) return (await attempt(request)).decision;
      const id = waitIdOf(request);
      const client = { id, workspace, tokenId: bearer.id, owner: bearer.owner, isSet: request.paths.length > 1 };
      const { decision, waited } = await line.wait({ ...client, options: waitOptions }, (place) =>
        attempt(request, place),
      );
      if (decision.kind !== 'blocked') return decision;
      return { kind: 'waiting', blocked: decision, waited, queue: await leasePosition(storage, id) };
    },
    async find(key: LeaseKey, bearer: Bearer): Promise<HeldLease | WaitingLease | EndedLease | Inaccessible> {
      const row = await findLease(storage.read, key);
      const wait = row === undefined ? await findWait(storage.read, waitIdOf(key)) : undefined;
      const found = row ?? wait;
      if (found === undefined || (row !== undefined && row.fingerprint === null)) return { kind: 'absent' };
      if (!isOwnLock(found, bearer)) return { kind: 'another-owner' };
      return row === undefined ? waitingState(found.id, wait?.wanted ?? 0) : stateOf(storage.read, row);
    },
    async renew(key: LeaseKey, bearer: Bearer, ttlMs: number) {
      const renewal = await storage.commit(key, async (db) => {
        const row = await findLease(db, key);
        if (row === undefined) return { kind: 'absent' } as const;
        if (!isOwnLock(row, bearer)) return { kind: 'another-owner' } as const;
        if (row.state === 'ended') return { kind: 'ended', row, end: endOf(row) } as const;
        const at = await timeOf(db, now);
        const renewed = await renewLocks(db, key, at, ttlMs);
        const locks = await heldLocks(db, now, key);
        const lost = await lostLocks(db, now, row, locks, fold);
        if (renewed === 0) return { kind: 'ended', row, end: { released: [], lost } } as const;
        await storeLease(db, { ...row, expires_at: at + ttlMs });
        return { kind: 'renewed', expiresAt: at + ttlMs, locks, lost } as const;
      });
      // A renewal may also shorten locks.
      if (renewal.kind === 'renewed') onChange(keysOf(renewal.locks));
      return renewal;
    },
    /** Ends the lease for good, also one that was never requested: a request that arrives later takes nothing. */
    async end(key: LeaseKey, bearer: Bearer) {
      const ending = await storage.commit(key, async (db) => {
        const row = await findLease(db, key);
        const at = await timeOf(db, now);
        const wait = row === undefined ? await findWait(db, waitIdOf(key)) : undefined;
        if (wait !== undefined) {
          if (!isOwnLock(wait, bearer)) return { kind: 'another-owner' } as const;
          const left = await pathsOfWait(db, wait.id, maxLinesNamed + 1);
          await removeWaits(db, now, [wait]);
          const end: LeaseEnd = { released: [], lost: [] };
          const { fingerprint } = wait;
          await storeLease(db, { ...emptyRow({ ...key, bearer }, at), fingerprint, result: JSON.stringify(end) });
          return { kind: 'left', end, left } as const;
        }
        if (row === undefined) {
          await storeLease(db, emptyRow({ ...key, bearer }, at));
          return { kind: 'absent' } as const;
        }
        if (!isOwnLock(row, bearer)) return { kind: 'another-owner' } as const;
        if (row.state === 'ended') {
          const end = endOf(row);
          return end === null ? ({ kind: 'absent' } as const) : ({ kind: 'released-before', end } as const);
        }
        const held = await heldLocks(db, now, key);
        const lost = await lostLocks(db, now, row, held, fold);
        const end: LeaseEnd = { released: await unlockPaths(db, now, key, at, bearer.owner), lost };
        await storeLease(db, { ...row, state: 'ended', granted: null, result: JSON.stringify(end), expires_at: at });
        return { kind: 'released', end } as const;
      });
      if (ending.kind === 'released') {
        const { workspace } = key;
        onChange(ending.end.released.map((path) => ({ workspace, path })));
      }
      if (ending.kind === 'left') onLinesChange(ending.left.length > maxLinesNamed ? undefined : ending.left);
      return ending;
    },
  };
}

const keysOf = (locks: readonly LockRow[]): readonly LockKey[] =>
  locks.map(({ workspace_id: workspace, path }) => ({ workspace, path }));

/** The id of its wait in line. */
const waitIdOf = ({ workspace, id }: LeaseKey): string => `${workspace} ${id}`;

const findWait = (db: Database, id: string) =>
  db.selectFrom('waits').selectAll().where('id', '=', id).executeTakeFirst();

/** Each path that may be locked. */
function wantedKeys(
  { workspace, paths }: LeaseRequest,
  { latest, outdated, gap }: Compared,
  fold: (path: string) => string | undefined,
): readonly LockKey[] {
  // Without a comparison that the workspace requires, no path may be locked.
  if (latest === 'refuse' && gap !== undefined) return [];
  const refused = new Set(latest === 'refuse' ? outdated.map(({ path }) => path) : []);
  const keys = paths
    .filter((path) => !refused.has(path))
    .map((path): LockKey => ({ workspace, path, foldedPath: fold(path) }));
  return [...new Map(keys.map((key) => [key.foldedPath ?? key.path, key])).values()];
}

const waitOf = (request: LeaseRequest, keys: readonly LockKey[], place: Place): WaitRequest => ({
  ...place,
  id: waitIdOf(request),
  workspace: request.workspace,
  kind: 'lease',
  paths: keys.map((key) => ({ path: linePathOf(key).path, askedPath: key.path })),
  wanted: request.count,
  tokenId: request.bearer.id,
  owner: request.bearer.owner,
  origin: request.origin,
  note: request.note,
  fingerprint: request.fingerprint,
  pool: request.pool,
});

/** A lease that leaves more lines is announced as a change of any. */
const maxLinesNamed = 100;

// Only end() writes the column.
const endOf = ({ result }: LeaseRow): LeaseEnd | null => (result === null ? null : (JSON.parse(result) as LeaseEnd));

const emptyRow = ({ workspace, id, bearer }: LeaseKey & { readonly bearer: Bearer }, at: number): LeaseRow => ({
  workspace_id: workspace,
  id,
  token_id: bearer.id,
  owner: bearer.owner,
  origin: null,
  note: null,
  fingerprint: null,
  pool: null,
  state: 'ended',
  ttl: 0,
  granted: null,
  result: null,
  expires_at: at,
});
