import { sql } from 'kysely';
import { milliseconds } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Comparison, Lock, LockType } from '../../interface/resources.ts';
import type { Ttl } from '../../interface/ttl.ts';
import type { BranchName } from '../git/branch-name.ts';
import {
  batchQuery,
  excludedOf,
  inInputOrder,
  insertFrom,
  type Members,
  numberOf,
  textsOf,
} from '../storage/batch-query.ts';
import type { Database, Now } from '../storage/storage.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { nextFences } from './fence.ts';
import { findLocks, type LockKey, type StoredLock } from './find.ts';
import { type LockChange, recordLockChanges } from './history.ts';
import {
  type FirstInLine,
  firstInLines,
  isAhead,
  keepPresent,
  type LinePath,
  newestRequests,
  removePlaces,
  requestGapMs,
} from './line.ts';
import { newLockId } from './lock-id.ts';
import { type LockQuota, noLockQuota, type QuotaExceeded } from './lock-quota.ts';
import { toLock } from './lock-row.ts';

export interface AcquireRequest extends LockKey {
  readonly path: LockPath;
  readonly type: LockType;
  readonly ttl: Ttl;
  readonly bearer: Bearer;
  readonly origin: string | null;
  /** True for Git LFS users. Git LFS has no ttl: see isLfsRenewalDue(). */
  readonly fromLfs?: boolean;
  readonly branch?: BranchName | undefined;
  /** Compares the file with other branches, if the request is about a branch. */
  readonly compare?: () => Promise<Comparison>;
  /** A person holds the lock until the file is merged: see latest/release-merged.ts. */
  readonly untilMerged?: boolean;
  readonly note?: string | null | undefined;
  readonly place?: Place | undefined;
}

export interface Place {
  readonly id: string;
  /** Whether a grant ends it. Otherwise, the client needs further locks. */
  readonly endsWithGrant: boolean;
  /** Set once the request is in line: from then on, it is granted only if it is the newest of its client. */
  readonly requestId?: string;
}

export type AcquireDecision =
  | { readonly kind: 'acquired'; readonly lock: Lock }
  | { readonly kind: 'held'; readonly lock: Lock; readonly remainingSeconds: number }
  /** The path is free, and others wait for it. */
  | { readonly kind: 'queued'; readonly first: FirstInLine }
  /** The client has asked again since then. */
  | { readonly kind: 'superseded' };

const key = ['workspace_id', 'path'] as const;

const ownerColumns = ['token_id', 'owner', 'origin', 'note', 'noted_lock_id'] as const;
const textColumns = [
  'id',
  'type',
  ...ownerColumns,
  'folded_path',
  'desk_id',
  'branch',
  'merge_base',
  'lease_id',
] as const;

const replacedColumns = [...textColumns, 'fence', 'acquired_at', 'expires_at'] as const;

/** The upsert decides: a new lock replaces no row, or a lock that has expired by the clock of the database. */
const upsertLocks = batchQuery((db, members, now) =>
  insertFrom(db, withTime(members, now), 'locks', {
    ...textsOf([...key, ...textColumns]),
    fence: numberOf('fence'),
    acquired_at: sql`asked.now`,
    expires_at: sql`asked.now + ${numberOf('ttl')}`,
  })
    .onConflict((conflict) =>
      conflict.columns(key).doUpdateSet(excludedOf(replacedColumns)).where(sql<boolean>`locks.expires_at <= ${now}`),
    )
    .returningAll(),
);

/** Reads the clock once for each member: between two readings, the clock of PostgreSQL advances. */
const withTime = (members: Members, now: Now): Members =>
  sql<{ key: string; value: string }>`(select asked.*, ${now} as now from ${members})`.as('asked');

/** A request for a free path: the first one in its list. */
interface GrantableRequest {
  readonly request: AcquireRequest;
  readonly index: number;
  readonly lockId: string;
  /** The lock that it replaces. */
  readonly expired: StoredLock | undefined;
}

/**
 * Decides requests in their order, with the same few queries for any number of them. If several ask for the same path
 * (with folded paths, also in different case), the first one gets it.
 */
export async function acquireLocks(
  db: Database,
  now: Now,
  requests: readonly AcquireRequest[],
  quota: LockQuota = noLockQuota,
): Promise<readonly (AcquireDecision | QuotaExceeded)[]> {
  const found = await findLocks(db, now, requests);
  const superseded = await areSuperseded(db, now, requests);
  const inLines = requests.map((request) => ({ ...linePathOf(request), placeId: request.place?.id ?? null }));
  const firsts = await firstInLines(db, now, inLines);
  const decisions = requests.map(({ place }, index): AcquireDecision | QuotaExceeded | undefined => {
    const [lock, first] = [found[index], firsts[index]];
    if (superseded[index]) return { kind: 'superseded' };
    if (lock?.isActive) return { kind: 'held', lock: toLock(lock), remainingSeconds: lock.remainingSeconds };
    return first !== undefined && isAhead(first, place?.id ?? null) ? { kind: 'queued', first } : undefined;
  });

  const free = requests.flatMap((request, index) =>
    decisions[index] === undefined ? { request, index, lockId: newLockId(), expired: found[index] } : [],
  );
  const byPath = Map.groupBy(free, ({ request }) => JSON.stringify(linePathOf(request)));
  const grantable = [...byPath.values()].flatMap(([first]) => first ?? []);
  const owners = grantable.map(({ request: { workspace, bearer } }) => ({ workspace, owner: bearer.owner }));
  const exceeded = await quota(db, now, owners);
  for (const [position, { index }] of grantable.entries()) decisions[index] = exceeded[position];
  const withinQuota = grantable.filter((_, position) => exceeded[position] === undefined);
  for (const { index, lock } of await grant(db, now, withinQuota))
    decisions[index] = { kind: 'acquired', lock: toLock(lock) };

  const undecided = [...requests.entries()].filter(([index]) => decisions[index] === undefined);
  const rest = undecided.map(([, request]) => request);
  const later = rest.length === 0 ? [] : await acquireLocks(db, now, rest, quota);
  for (const [position, [index]] of undecided.entries()) decisions[index] = later[position];
  return decisions.flatMap((decision) => decision ?? []);
}

/** Stores and returns the locks of these requests, without those whose path is no longer free. */
async function grant(db: Database, now: Now, grantable: readonly GrantableRequest[]) {
  if (grantable.length === 0) return [];
  const workspaces = grantable.map(({ request }) => request.workspace);
  const fences = await nextFences(db, now, workspaces);
  const rows = grantable.map((each, index) => newLock(each, fences[index]));
  const stored = new Map((await upsertLocks(db, now, rows)).map((lock) => [lock.id, lock]));
  const granted = grantable.flatMap((each) => {
    const lock = stored.get(each.lockId);
    return lock === undefined ? [] : { ...each, lock };
  });
  const changes = granted.flatMap(({ expired, lock }): LockChange[] => {
    const acquired = { kind: 'acquired', lock } as const;
    return expired === undefined ? [acquired] : [{ kind: 'expired', lock: expired }, acquired];
  });
  await recordLockChanges(db, now, changes);
  const places = granted.flatMap(({ request }) => request.place ?? []);
  await endPlaces(db, now, places);
  return granted;
}

/** The line of a path: paths that share a lock share a line. */
export const linePathOf = ({ workspace, path, foldedPath = path }: LockKey): LinePath => ({
  workspace,
  path: foldedPath,
});

async function areSuperseded(db: Database, now: Now, requests: readonly AcquireRequest[]): Promise<readonly boolean[]> {
  const members = requests.map(({ place }) => ({ placeId: place?.id, requestId: place?.requestId }));
  if (members.every(({ requestId }) => requestId === undefined)) return [];
  const newest = inInputOrder(members, await newestRequests(db, now, members));
  return members.map(({ requestId }, index) => requestId !== undefined && newest[index] === undefined);
}

async function endPlaces(db: Database, now: Now, places: readonly Place[]): Promise<void> {
  const rows = places.map(({ id, endsWithGrant }) => ({ placeId: id, endsWithGrant, presentMs: requestGapMs }));
  const { ended, kept } = Object.groupBy(rows, ({ endsWithGrant }) => (endsWithGrant ? 'ended' : 'kept'));
  if (ended !== undefined) await removePlaces(db, now, ended);
  if (kept !== undefined) await keepPresent(db, now, kept);
}

const newLock = ({ lockId, request }: GrantableRequest, fence: number | undefined) => ({
  workspace_id: request.workspace,
  path: request.path,
  id: lockId,
  type: request.type,
  token_id: request.bearer.id,
  owner: request.bearer.owner,
  origin: request.origin,
  note: request.note,
  noted_lock_id: lockId,
  folded_path: request.foldedPath,
  desk_id: request.fromLfs ? lockId : undefined,
  branch: request.branch === undefined ? undefined : `${lockId} ${request.branch}`,
  merge_base: isUntilMerged(request) ? lockId : undefined,
  fence,
  ttl: milliseconds(request.ttl),
});

/** Jobs rely on their locks for as long as they run. */
const isUntilMerged = ({ untilMerged, origin, bearer }: AcquireRequest): boolean =>
  untilMerged === true && origin === null && bearer.run === undefined;
