import type { LockPath } from '../../interface/lock-path.ts';
import type { QueuePosition } from '../../interface/problem.ts';
import type { Compared, Lock } from '../../interface/resources.ts';
import type { Database, Storage } from '../storage/storage.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { findLocks, toLock } from './find.ts';
import {
  endedLocks,
  findLease,
  findWait,
  heldLocks,
  heldPaths,
  type LeaseEnd,
  type LeaseKey,
  type LeaseRequest,
  type LeaseRow,
  type LostLock,
  renewLocks,
  storeLease,
  type TakeLeaseDecision,
  type TakeOptions,
  takeLease,
  timeOf,
  unlockPaths,
  waitIdOf,
} from './lease-store.ts';
import { placeInLine } from './line.ts';
import { isOwnLock } from './release.ts';
import { type Blocked, blockedBy, keepersOf, type Place } from './take.ts';
import type { Attempt, WaitInLine, WaitOptions } from './wait-in-line.ts';
import { maxNamedLines, pathsOfWait, removeWaits } from './waits.ts';

/** Leases: sets of locks that are taken, renewed and released as one. */

export interface HeldLease {
  readonly kind: 'held';
  readonly row: LeaseRow;
  readonly locks: readonly Lock[];
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
  readonly end: LeaseEnd;
}

type Inaccessible = { readonly kind: 'another-owner' | 'absent' };

export type LeaseDecision =
  | (HeldLease & { readonly isNew: boolean; readonly comparison: Compared })
  | { readonly kind: 'outdated'; readonly comparison: Compared }
  | (WaitingLease & { readonly waited: boolean })
  /** Two of its paths name one file. */
  | { readonly kind: 'same-file'; readonly index: number; readonly path: string }
  | Exclude<TakeLeaseDecision, { readonly kind: 'granted' | 'outdated' }>
  | EndedLease
  | Inaccessible;

interface LeasesOptions extends Omit<TakeOptions, 'now'> {
  readonly storage: Pick<Storage, 'commit' | 'read' | 'now'>;
  readonly line: WaitInLine;
  readonly onRefused: () => void;
  /** Called with the paths whose locks or lines have changed. */
  readonly onChange: (workspace: string, paths: readonly string[]) => void;
}

export function createLeases(options: LeasesOptions) {
  const { storage, line, fold, onRefused, onChange } = options;
  const { now } = storage;

  async function stateOf(db: Database, row: LeaseRow): Promise<HeldLease | EndedLease> {
    const at = await timeOf(db, now);
    const locks = await heldLocks(db, { workspace: row.workspace_id, id: row.id }, at);
    const end = await endedLocks(db, now, row, at, fold);
    if (locks.length === 0) return { kind: 'ended', row, end };
    // One of them may have ended since it was read.
    const held = new Set(locks.map(({ id }) => id));
    return { kind: 'held', row, locks: locks.map(toLock), lost: end.lost.filter(({ id }) => !held.has(id)) };
  }

  async function waitingState(id: string, wanted: number): Promise<WaitingLease> {
    const paths = await pathsOfWait(storage.read, id, Number.MAX_SAFE_INTEGER);
    const keys = paths.map(({ workspace, path, askedPath }) => ({ workspace, path: askedPath, foldedPath: path }));
    const found = await findLocks(storage.read, now, keys);
    const lockOn = new Map(keys.map((key, index) => [key, found[index]]));
    const free = keys.filter((key) => !lockOn.get(key)?.isTaken);
    const blocked = blockedBy({ keys, wanted }, lockOn, await keepersOf(storage.read, now, free));
    return { kind: 'waiting', blocked, queue: await placeInLine(storage, id) };
  }

  /** Undefined for a lease that was neither granted nor ended. */
  async function known(
    db: Database,
    request: LeaseRequest,
  ): Promise<HeldLease | EndedLease | { readonly kind: 'another-owner' | 'another-request' } | undefined> {
    const row = await findLease(db, request);
    if (row === undefined) return undefined;
    if (!isOwnLock(row, request.bearer)) return { kind: 'another-owner' };
    // Without one, it was ended before this request arrived.
    if (row.fingerprint !== null && row.fingerprint !== request.fingerprint) return { kind: 'another-request' };
    return stateOf(db, row);
  }

  async function attempt(request: LeaseRequest, place?: Place): Promise<Attempt<LeaseDecision>> {
    const comparison = await request.compare(await request.readPaths(storage.read));
    const found = await storage.commit(request, async (db) => {
      const before = await known(db, request);
      return before ?? takeLease(db, { ...options, now }, request, comparison, place);
    });
    switch (found.kind) {
      case 'granted': {
        const { row } = found;
        const locks = found.locks.map(toLock);
        onChange(request.workspace, pathsOf(locks));
        return { decision: { kind: 'held', row, locks, lost: [], isNew: true, comparison } };
      }
      case 'held':
        return { decision: { ...found, isNew: false, comparison } };
      case 'blocked':
        return { decision: found, watched: found.watched };
      case 'outdated':
        return { decision: { kind: 'outdated', comparison }, isRefused: true };
      default:
        if (found.kind === 'exceeded') onRefused();
        return { decision: found, isRefused: true };
    }
  }

  /** The first path that is the same file as one before it. */
  function sameFileIn(paths: readonly LockPath[]): { readonly index: number; readonly path: string } | undefined {
    const seen = new Map<string, string>();
    for (const [index, path] of paths.entries()) {
      const key = fold(path) ?? path;
      const same = seen.get(key);
      if (same !== undefined) return { index, path: same };
      seen.set(key, path);
    }
    return undefined;
  }

  return {
    async put(request: LeaseRequest, waitOptions: WaitOptions | undefined): Promise<LeaseDecision> {
      const before = await known(storage.read, request);
      if (before?.kind === 'held') {
        // Only paths that were parsed are locked.
        const comparison = await request.compare(before.locks.map(({ path }) => path as LockPath));
        return { ...before, isNew: false, comparison };
      }
      if (before !== undefined) return before;
      const paths = await request.readPaths(storage.read);
      const same = request.pool === undefined ? sameFileIn(paths) : undefined;
      if (same !== undefined) return { kind: 'same-file', ...same };
      if (waitOptions === undefined) return (await attempt(request)).decision;
      const { workspace, bearer } = request;
      const id = waitIdOf(request);
      const isSet = request.pool !== undefined || paths.length > 1;
      const client = { id, workspace, owner: bearer.owner, isSet };
      const { decision, waited } = await line.wait({ ...client, options: waitOptions }, (place) =>
        attempt(request, place),
      );
      if (decision.kind !== 'blocked') return decision;
      return { kind: 'waiting', blocked: decision, waited, queue: await placeInLine(storage, id) };
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
        const at = await timeOf(db, now);
        const renewed = row.state === 'ended' ? 0 : await renewLocks(db, key, at, ttlMs);
        const end = await endedLocks(db, now, row, at, fold);
        if (renewed === 0) return { kind: 'ended', row, end } as const;
        const held = await heldPaths(db, key, at, maxNamedLines + 1);
        return { kind: 'renewed', expiresAt: at + ttlMs, held, lost: end.lost } as const;
      });
      // A renewal may also shorten locks.
      if (renewal.kind === 'renewed') onChange(key.workspace, renewal.held);
      return renewal;
    },
    /**
     * Ends the lease for good, also one that was never requested: a request that arrives later takes nothing. `onUnknown`
     * is called before an id that nobody has requested is stored, and may throw.
     */
    async end(key: LeaseKey, bearer: Bearer, onUnknown: () => void = () => undefined) {
      const ending = await storage.commit(key, async (db) => {
        const row = await findLease(db, key);
        const wait = row === undefined ? await findWait(db, waitIdOf(key)) : undefined;
        const found = row ?? wait;
        if (found === undefined) onUnknown();
        else if (!isOwnLock(found, bearer)) return { kind: 'another-owner' } as const;
        const at = await timeOf(db, now);
        if (row?.state !== 'ended') {
          const requested = { fingerprint: found?.fingerprint ?? null, pool: row?.pool ?? null };
          const ended = { workspace_id: key.workspace, id: key.id, owner: bearer.owner, ...requested };
          await storeLease(db, { ...ended, state: 'ended', expires_at: at });
        }
        if (wait !== undefined) {
          const left = (await pathsOfWait(db, wait.id, maxNamedLines + 1)).map(({ askedPath }) => askedPath);
          await removeWaits(db, now, [wait]);
          return { kind: 'left', end: nothingHeld, left } as const;
        }
        if (row === undefined || row.fingerprint === null) return { kind: 'absent' } as const;
        const end = await endedLocks(db, now, row, at, fold);
        if (row.state === 'ended') return { kind: 'released-before', end } as const;
        const released = await unlockPaths(db, now, key, at, bearer.owner);
        return { kind: 'released', end: { ...end, released } } as const;
      });
      if (ending.kind === 'released') onChange(key.workspace, ending.end.released);
      if (ending.kind === 'left') onChange(key.workspace, ending.left);
      return ending;
    },
  };
}

const nothingHeld: LeaseEnd = { released: [], lost: [] };

const pathsOf = (locks: readonly { readonly path: string }[]): string[] => locks.map(({ path }) => path);
