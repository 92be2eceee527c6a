import type { LockPath } from '../../interface/lock-path.ts';
import { isRefused } from '../../interface/outdated.ts';
import type { Compared, Lock, LockType } from '../../interface/resources.ts';
import type { BranchName } from '../git/branch-name.ts';
import type { Database, Now } from '../storage/storage.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { isKeptFor, type LockTerms, linePathOf, type Place } from './acquire.ts';
import { findLocks, type LockKey } from './find.ts';
import { type Blocked, blockedBy } from './lease-blocked.ts';
import { grantedText, type LeaseKey, type LeaseRow, lockPaths, storeLease, timeOf } from './lease-store.ts';
import { keptFor } from './line.ts';
import type { QuotaExceeded } from './lock-quota.ts';
import { isOwnLock } from './release.ts';
import { changePaths, joinLine, removeWaits, type WaitRequest } from './waits.ts';

export interface LeaseRequest extends LeaseKey {
  readonly bearer: Bearer;
  readonly origin: string | null;
  /** Hash of the request: another request with the same id is refused. */
  readonly fingerprint: string;
  /** The requested paths, each once. The paths of a pool may change while the lease waits. */
  readonly readPaths: (db: Database) => Promise<readonly LockPath[]>;
  readonly pool?: string | undefined;
  /** How many of the paths are wanted; undefined for all. */
  readonly count: number | undefined;
  readonly type: LockType;
  readonly ttlMs: number;
  readonly note: string | null;
  readonly branch?: BranchName | undefined;
  readonly compare: (paths: readonly LockPath[]) => Promise<Compared>;
}

export type TakeDecision =
  | { readonly kind: 'granted'; readonly row: LeaseRow; readonly locks: readonly Lock[] }
  | { readonly kind: 'outdated' }
  | { readonly kind: 'another-owner' | 'another-request' | 'superseded' | 'too-many-waits' }
  /** The pool has fewer items now. */
  | { readonly kind: 'too-few-paths'; readonly paths: number }
  | Blocked
  | QuotaExceeded;

export interface TakeOptions extends LockTerms {
  readonly now: Now;
  readonly fold: (path: string) => string | undefined;
  /** Why nobody may lock a path. */
  readonly pathProblem: (path: LockPath) => string | undefined;
}

/** Decides a lease that has not been granted, in a transaction. One that has a place is in line afterwards, if it must wait. */
export async function takeLease(
  db: Database,
  { now, fold, pathProblem, ...terms }: TakeOptions,
  request: LeaseRequest,
  comparison: Compared,
  place: Place | undefined,
): Promise<TakeDecision> {
  const paths = (await request.readPaths(db)).filter((path) => pathProblem(path) === undefined);
  const wanted = request.count ?? paths.length;
  if (paths.length < wanted || wanted === 0) return { kind: 'too-few-paths', paths: paths.length };
  const keys = lockableKeys(request.workspace, paths, comparison, fold);
  if (keys.length < wanted) return { kind: 'outdated' };
  const waitId = waitIdOf(request);
  const wait = await findWait(db, waitId);
  if (wait !== undefined) {
    if (!isOwnLock(wait, request.bearer)) return { kind: 'another-owner' };
    if (wait.fingerprint !== request.fingerprint) return { kind: 'another-request' };
  }
  if (place?.isFirst === false && wait?.request_id !== place.requestId) return { kind: 'superseded' };
  const grantOrBlock = () => grant(db, now, terms, { request, keys, wanted });
  const first = await grantOrBlock();
  if (first.kind !== 'blocked' || place === undefined) {
    // Without Prefer, it no longer waits.
    if (wait !== undefined) await removeWaits(db, now, [wait]);
    return first;
  }
  const waiting = waitOf(request, keys, wanted, place);
  const [isInLine] = await joinLine(db, now, [waiting]);
  if (!isInLine) return { kind: 'too-many-waits' };
  // A list without refused paths, then and now, is the same: reading thousands of paths is not needed to tell.
  const isSame = request.pool === undefined && wait?.size === keys.length && keys.length === paths.length;
  if (wait !== undefined && !isSame) await changePaths(db, now, waiting);
  // In line, it may be before the one that a path was kept for.
  const second = first.next === undefined ? first : await grantOrBlock();
  if (second.kind === 'granted') await removeWaits(db, now, [{ id: waitId }]);
  return second;
}

interface Wanted {
  readonly request: LeaseRequest;
  readonly keys: readonly LockKey[];
  readonly wanted: number;
}

async function grant(
  db: Database,
  now: Now,
  { quota, delayMs }: LockTerms,
  { request, keys, wanted }: Wanted,
): Promise<Extract<TakeDecision, { kind: 'granted' | 'blocked' | 'exceeded' }>> {
  const { workspace, id, bearer, origin, note, ttlMs } = request;
  const found = await findLocks(db, now, keys);
  const free = keys.filter((_, index) => !found[index]?.isTaken);
  const kept = free.length < wanted ? [] : await keptFor(db, now, free.map(linePathOf));
  const waitId = waitIdOf(request);
  const open = free.filter((_, index) => {
    const next = kept[index];
    return next === undefined || isKeptFor(next, waitId, bearer);
  });
  if (open.length < wanted) return blockedBy(wanted, keys, found, kept);
  const [over] = await quota(db, now, [{ workspace, owner: bearer.owner, count: wanted }]);
  if (over !== undefined) return over;
  const at = await timeOf(db, now);
  const taken = open.slice(0, wanted);
  const paths = new Set<string>(taken.map(({ path }) => path));
  const replaced = found.flatMap((lock) => (lock?.isTaken === false && paths.has(lock.path) ? lock : []));
  const common = {
    lease: { workspace, id },
    tokenId: bearer.id,
    owner: bearer.owner,
    origin,
    note,
    ttlMs,
    delayMs,
    at,
  };
  const locks = await lockPaths(db, now, { ...common, branch: request.branch, type: request.type }, taken, replaced);
  // A person who takes a path that was kept for them has no more request for it.
  const asks = free.flatMap((key, index) => (kept[index]?.kind === 'ask' && taken.includes(key) ? kept[index] : []));
  if (asks.length > 0) await removeWaits(db, now, asks);
  const row: LeaseRow = {
    ...emptyRow(request, at),
    ...{ fingerprint: request.fingerprint, pool: request.pool ?? null },
    ...{ state: 'held', size: locks.length, expires_at: at + ttlMs },
  };
  await storeLease(db, { ...row, granted: grantedText(locks) });
  return { kind: 'granted', row, locks };
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

const waitOf = (request: LeaseRequest, keys: readonly LockKey[], wanted: number, place: Place): WaitRequest => ({
  ...place,
  id: waitIdOf(request),
  workspace: request.workspace,
  kind: 'lease',
  paths: keys.map((key) => ({ path: linePathOf(key).path, askedPath: key.path })),
  wanted,
  tokenId: request.bearer.id,
  owner: request.bearer.owner,
  origin: request.origin,
  note: request.note,
  fingerprint: request.fingerprint,
});

/** A lease that holds nothing and never will. */
export const emptyRow = ({ workspace, id, bearer }: LeaseKey & { readonly bearer: Bearer }, at: number): LeaseRow => ({
  workspace_id: workspace,
  id,
  token_id: bearer.id,
  owner: bearer.owner,
  fingerprint: null,
  pool: null,
  state: 'ended',
  size: 0,
  result: null,
  expires_at: at,
});
