import type { LockPath } from '../../interface/lock-path.ts';
import { isRefused } from '../../interface/outdated.ts';
import type { QueuePosition } from '../../interface/problem.ts';
import type { Compared } from '../../interface/resources.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import type { Bearer } from '../tokens/tokens.ts';
import type { LockKey, RecordedLock } from './find.ts';
import {
  expiredLocks,
  findLease,
  heldPaths,
  type LeaseKey,
  type LeaseRow,
  type LostLock,
  leaseLocks,
  lostLocks,
  releasedPaths,
  releaseHeld,
  renewLocks,
  storeLease,
  timeOf,
} from './lease-store.ts';
import { placeInLine } from './line.ts';
import { isOwnLock } from './release.ts';
import { type LockRequest, sharedIdOf } from './store-locks.ts';
import { type Blocked, blockedNow, type LockTerms, type Place, type TakeDecision, take } from './take.ts';
import type { Attempt, WaitInLine, WaitOptions } from './wait-in-line.ts';
import { findWait, maxNamedLines, pathsOfWait, removeWaits } from './waits.ts';

/** Leases: sets of locks that are taken, renewed and released as one. */

export interface LeaseRequest extends LeaseKey, Omit<LockRequest, 'workspace' | 'lease'> {
  /** Hash of the body: a request with the same id and another one is refused. */
  readonly fingerprint: string;
  /** The requested paths, each once. The paths of a pool may change while the lease waits. */
  readonly readPaths: (db: Database) => Promise<readonly LockPath[]>;
  readonly pool?: string | undefined;
  /** How many of the paths are wanted; undefined for all. */
  readonly count: number | undefined;
  readonly compare: (paths: readonly LockPath[]) => Promise<Compared>;
}

export interface HeldLease {
  readonly kind: 'held';
  readonly isNew: boolean;
  readonly row: LeaseRow;
  readonly locks: readonly RecordedLock[];
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
  readonly lost: readonly LostLock[];
}

type Inaccessible = { readonly kind: 'another-owner' | 'absent' };

type Ungranted =
  | Exclude<TakeDecision, { readonly kind: 'granted' }>
  | { readonly kind: 'outdated' | 'another-owner' | 'another-request' }
  /** The pool has fewer items, or one of the paths is the same file as another one. */
  | { readonly kind: 'too-few-paths'; readonly paths: number; readonly repeated: string | undefined };

export type LeaseDecision = { readonly comparison: Compared } & (
  | HeldLease
  | (WaitingLease & { readonly waited: boolean })
  | EndedLease
  | Ungranted
);

interface TakeOptions extends LockTerms {
  readonly now: Now;
  readonly fold: (path: string) => string | undefined;
}

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
    const { locks = [], expired = [] } = Object.groupBy(await leaseLocks(db, row), ({ expires_at }) =>
      expires_at > at ? 'locks' : 'expired',
    );
    const lost = await lostLocks(db, now, row, expired, fold);
    if (locks.length === 0) return { kind: 'ended', lost };
    // One of them may have ended since it was read.
    const held = new Set(locks.map(({ id }) => id));
    return { kind: 'held', isNew: false, row, locks, lost: lost.filter(({ id }) => !held.has(id)) };
  }

  /** The state of a lease that was requested before; undefined if it was neither granted nor ended. */
  async function known(db: Database, request: LeaseRequest): Promise<HeldLease | EndedLease | Ungranted | undefined> {
    const { row, found } = await findLeaseOrWait(db, request);
    if (found !== undefined && !isOwnLock(found, request.bearer)) return { kind: 'another-owner' };
    // Without a fingerprint, it was ended before this request arrived.
    const fingerprint = found?.fingerprint ?? request.fingerprint;
    if (fingerprint !== request.fingerprint) return { kind: 'another-request' };
    return row && stateOf(db, row);
  }

  async function attempt(request: LeaseRequest, place?: Place): Promise<Attempt<LeaseDecision>> {
    const comparison = await request.compare(await request.readPaths(storage.read));
    const decided = await storage.commit(
      request,
      async (db) => (await known(db, request)) ?? takeLease(db, { ...options, now }, request, comparison, place),
    );
    if (decided.kind === 'exceeded') onRefused();
    if (decided.kind === 'held' && decided.isNew) onChange(request.workspace, firstPathsOf(decided.locks));
    const decision = { ...decided, comparison };
    if (decided.kind === 'blocked') return { decision, watched: decided.watched };
    return { decision, isRefused: decided.kind !== 'held' };
  }

  return {
    async put(request: LeaseRequest, waitOptions: WaitOptions | undefined): Promise<LeaseDecision> {
      // First: the paths of a pool may have changed since then.
      const before = await known(storage.read, request);
      if (before !== undefined) {
        // Only paths that were parsed are locked.
        const held = before.kind === 'held' ? before.locks.map(({ path }) => path as LockPath) : [];
        return { ...before, comparison: await request.compare(held) };
      }
      if (waitOptions === undefined) return (await attempt(request)).decision;
      const { workspace, bearer } = request;
      const id = waitIdOf(request);
      const client = { id, workspace, owner: bearer.owner, options: waitOptions };
      const { decision, waited } = await line.wait(client, (place) => attempt(request, place));
      if (decision.kind !== 'blocked') return decision;
      const { comparison } = decision;
      return { kind: 'waiting', comparison, blocked: decision, waited, queue: await placeInLine(storage, id) };
    },
    async find(key: LeaseKey, bearer: Bearer): Promise<HeldLease | WaitingLease | EndedLease | Inaccessible> {
      const { row, wait, found } = await findLeaseOrWait(storage.read, key);
      if (found === undefined || found.fingerprint === null) return { kind: 'absent' };
      if (!isOwnLock(found, bearer)) return { kind: 'another-owner' };
      if (row !== undefined) return stateOf(storage.read, row);
      const paths = await pathsOfWait(storage.read, found.id);
      const keys = paths.map(({ workspace, path, askedPath }) => ({ workspace, path: askedPath, foldedPath: path }));
      const blocked = await blockedNow(storage.read, now, {
        keys,
        wanted: wait?.wanted ?? 0,
        waitId: found.id,
        bearer,
      });
      return { kind: 'waiting', blocked, queue: await placeInLine(storage, found.id) };
    },
    async renew(key: LeaseKey, bearer: Bearer, ttlMs: number) {
      const renewal = await storage.commit(key, async (db) => {
        const row = await findLease(db, key);
        if (row === undefined) return { kind: 'absent' } as const;
        if (!isOwnLock(row, bearer)) return { kind: 'another-owner' } as const;
        const at = await timeOf(db, now);
        const renewed = await renewLocks(db, row, at, ttlMs);
        const lost = await lostLocks(db, now, row, await expiredLocks(db, row, at), fold);
        if (renewed === 0) return { kind: 'ended', lost } as const;
        const held = await heldPaths(db, row, at, maxNamedLines + 1);
        return { kind: 'renewed', expiresAt: at + ttlMs, held, lost } as const;
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
        const { row, wait, found } = await findLeaseOrWait(db, key);
        if (found === undefined) onUnknown();
        else if (!isOwnLock(found, bearer)) return { kind: 'another-owner' } as const;
        const at = await timeOf(db, now);
        if (row?.state !== 'ended') {
          const requested = { owner: bearer.owner, fingerprint: found?.fingerprint ?? null, pool: null, lock_ids: '' };
          const ended = { workspace_id: key.workspace, id: key.id, ...requested, ...row };
          await storeLease(db, { ...ended, state: 'ended', expires_at: at });
        }
        if (wait !== undefined) {
          const left = firstPathsOf(await pathsOfWait(db, wait.id, maxNamedLines + 1));
          await removeWaits(db, now, [wait]);
          return { kind: 'left', released: [], lost: [], left } as const;
        }
        if (row === undefined || row.fingerprint === null) return { kind: 'absent' } as const;
        const kind = row.state === 'ended' ? 'released-before' : 'released';
        const { released, expired } =
          kind === 'released'
            ? await releaseHeld(db, now, row, at, bearer.owner)
            : { released: await releasedPaths(db, row), expired: await expiredLocks(db, row, at) };
        return { kind, released, lost: await lostLocks(db, now, row, expired, fold) } as const;
      });
      if (ending.kind === 'released') onChange(key.workspace, ending.released);
      if (ending.kind === 'left') onChange(key.workspace, ending.left);
      return ending;
    },
  };
}

/** A lease that was granted or ended, or else its wait in line. */
async function findLeaseOrWait(db: Database, key: LeaseKey) {
  const row = await findLease(db, key);
  const wait = row === undefined ? await findWait(db, waitIdOf(key)) : undefined;
  return { row, wait, found: row ?? wait };
}

/** The id of its wait in line. */
export const waitIdOf = ({ workspace, id }: LeaseKey): string => `${workspace} ${id}`;

const firstPathsOf = (locks: readonly { readonly path: string }[]): string[] =>
  locks.slice(0, maxNamedLines + 1).map(({ path }) => path);

/** Decides a lease that has not been granted, in a transaction. One that has a place is in line afterwards, if it must wait. */
export async function takeLease(
  db: Database,
  { now, fold, ...terms }: TakeOptions,
  { readPaths, compare: _, id: lease, count, ...request }: LeaseRequest,
  comparison: Compared,
  place: Place | undefined,
): Promise<HeldLease | Ungranted> {
  const { workspace, bearer, fingerprint, pool = null } = request;
  const asked = (await readPaths(db)).map((path): LockKey => ({ workspace, path, foldedPath: fold(path) }));
  const files = eachFileOnce(asked);
  const wanted = count ?? asked.length;
  if (files.length < wanted) {
    const kept = new Set(files);
    return { kind: 'too-few-paths', paths: files.length, repeated: asked.find((key) => !kept.has(key))?.path };
  }
  const keys = withoutRefused(files, comparison);
  if (keys.length < wanted) return { kind: 'outdated' };
  const waitId = waitIdOf({ workspace, id: lease });
  const [decision] = await take(db, now, [{ ...request, lease, keys, wanted, waitId, place }], terms);
  if (decision === undefined) throw new Error('The request was not decided.');
  if (decision.kind !== 'granted') return decision;
  const { locks } = decision;
  const [{ id, expires_at } = { id: '', expires_at: Number.NaN }] = locks;
  const row: LeaseRow = {
    ...{ workspace_id: workspace, id: lease, owner: bearer.owner, fingerprint, pool },
    ...{ lock_ids: sharedIdOf(id), state: 'held', expires_at },
  };
  await storeLease(db, row);
  return { kind: 'held', isNew: true, row, locks, lost: [] };
}

/** With folded paths, several of the paths may be the same file. */
const eachFileOnce = (keys: readonly LockKey[]): readonly LockKey[] =>
  keys[0]?.foldedPath === undefined ? keys : [...new Map(keys.map((key) => [key.foldedPath, key])).values()];

function withoutRefused(keys: readonly LockKey[], comparison: Compared): readonly LockKey[] {
  if (!isRefused(comparison)) return keys;
  // Without a comparison that the workspace requires, no path may be locked.
  if (comparison.gap !== undefined) return [];
  const outdated = new Set(comparison.outdated.map(({ path }) => path));
  return keys.filter(({ path }) => !outdated.has(path));
}
