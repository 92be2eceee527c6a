import type { LockPath } from '../../interface/lock-path.ts';
import type { Comparison, Lock, LockType } from '../../interface/resources.ts';
import type { BranchName } from '../git/branch-name.ts';
import type { Database, Storage } from '../storage/storage.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { findLocks, type LockKey } from './find.ts';
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
import type { LockQuota, QuotaExceeded } from './lock-quota.ts';
import { type LockRow, toLock } from './lock-row.ts';
import { isOwnLock } from './release.ts';

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
  readonly compare: () => Promise<Comparison>;
}

export interface HeldLease {
  readonly kind: 'held';
  readonly row: LeaseRow;
  readonly locks: readonly LockRow[];
  readonly lost: readonly LostLock[];
}

interface EndedLease {
  readonly kind: 'ended';
  readonly row: LeaseRow;
  readonly end: LeaseEnd | null;
}

type Inaccessible = { readonly kind: 'another-owner' | 'absent' };

/** Too few of the paths are free. */
interface Blocked {
  readonly kind: 'blocked';
  /** The first of the locks in its way. */
  readonly locks: readonly Lock[];
  readonly blocked: number;
  readonly remainingSeconds: number;
}

export type LeaseDecision =
  | (HeldLease & { readonly isNew: boolean; readonly comparison?: Comparison })
  | Blocked
  | { readonly kind: 'outdated'; readonly comparison: Comparison }
  | { readonly kind: 'another-request' }
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
  /** Called with the paths whose locks have begun, have ended, or end at another time. */
  readonly onChange: (keys: readonly LockKey[]) => void;
}

export function createLeases({ storage, quota, fold, pathProblem, onChange }: LeasesOptions) {
  const { now } = storage;

  async function stateOf(db: Database, row: LeaseRow): Promise<HeldLease | EndedLease> {
    if (row.state === 'ended') return { kind: 'ended', row, end: endOf(row) };
    const locks = await heldLocks(db, now, { workspace: row.workspace_id, id: row.id });
    const lost = await lostLocks(db, now, row, locks, fold);
    return locks.length > 0 ? { kind: 'held', row, locks, lost } : { kind: 'ended', row, end: { released: [], lost } };
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

  async function take(db: Database, request: LeaseRequest, comparison: Comparison): Promise<LeaseDecision> {
    const before = await known(db, request);
    if (before !== undefined) return before;
    const { workspace, id, bearer, origin, note, ttlMs, count } = request;
    const refused = new Set(comparison.latest === 'refuse' ? comparison.outdated.map(({ path }) => path) : []);
    const keys = request.paths
      .filter((path) => !refused.has(path))
      .map((path): LockKey => ({ workspace, path, foldedPath: fold(path) }));
    if (keys.length < count) return { kind: 'outdated', comparison };
    const found = await findLocks(db, now, keys);
    const free = keys.filter((_, index) => !found[index]?.isActive);
    if (free.length < count) return blockedBy(found);
    const exceeded = await quota(db, now, Array(count).fill({ workspace, owner: bearer.owner }));
    const [over] = exceeded.filter((each) => each !== undefined);
    if (over !== undefined) return over;
    const at = await timeOf(db, now);
    const taken = free.slice(0, count);
    const paths = new Set(taken.map(({ path }) => path));
    const replaced = found.flatMap((lock) =>
      lock !== undefined && !lock.isActive && paths.has(lock.path as LockPath) ? lock : [],
    );
    const common = { lease: { workspace, id }, tokenId: bearer.id, owner: bearer.owner, origin, note, ttlMs, at };
    const locks = await lockPaths(db, now, { ...common, branch: request.branch, type: request.type }, taken, replaced);
    const row: LeaseRow = {
      ...emptyRow(request, at),
      ...{ origin, note, fingerprint: request.fingerprint, pool: request.pool ?? null },
      ...{ state: 'held', ttl: ttlMs, granted: grantedText(locks), expires_at: at + ttlMs },
    };
    await storeLease(db, row);
    return { kind: 'held', row, locks, lost: [], isNew: true, comparison };
  }

  return {
    async put(request: LeaseRequest): Promise<LeaseDecision> {
      const before = await known(storage.read, request);
      if (before !== undefined) return before;
      const problems = request.paths.map(pathProblem);
      const index = problems.findIndex((reason) => reason !== undefined);
      if (index >= 0) return { kind: 'invalid-path', index, reason: problems[index] ?? '' };
      const comparison = await request.compare();
      const decision = await storage.commit(request, (db) => take(db, request, comparison));
      if (decision.kind === 'held' && decision.isNew) onChange(keysOf(decision.locks));
      return decision;
    },
    async find(key: LeaseKey, bearer: Bearer): Promise<HeldLease | EndedLease | Inaccessible> {
      const row = await findLease(storage.read, key);
      if (row === undefined) return { kind: 'absent' };
      return isOwnLock(row, bearer) ? stateOf(storage.read, row) : { kind: 'another-owner' };
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
      return ending;
    },
  };
}

const keysOf = (locks: readonly LockRow[]): readonly LockKey[] =>
  locks.map(({ workspace_id: workspace, path }) => ({ workspace, path }));

/** How many locks a refusal names. */
const maxNamed = 20;

function blockedBy(found: Awaited<ReturnType<typeof findLocks>>): Blocked {
  const held = found.flatMap((lock) => (lock?.isActive ? lock : []));
  const remainingSeconds = Math.min(...held.map(({ remainingSeconds }) => remainingSeconds));
  return { kind: 'blocked', locks: held.slice(0, maxNamed).map(toLock), blocked: held.length, remainingSeconds };
}

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
