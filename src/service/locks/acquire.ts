import { type RawBuilder, sql } from 'kysely';
import { milliseconds } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Lock, LockType } from '../../interface/resources.ts';
import type { Ttl } from '../../interface/ttl.ts';
import type { BranchName } from '../git/branch-name.ts';
import {
  batchQuery,
  excludedOf,
  insertFrom,
  type Members,
  numberOf,
  numbersOf,
  textOf,
  textsOf,
} from '../storage/batch-query.ts';
import type { Database, Now } from '../storage/storage.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { nextFences } from './fence.ts';
import { findLocks, isTaken, type LockKey, type Obstacle, obstacleIn, type StoredLock } from './find.ts';
import { type LockChange, recordLockChanges } from './history.ts';
import { keptFor, type Next } from './line.ts';
import { newLockId } from './lock-id.ts';
import { type LockQuota, noLockQuota, type QuotaExceeded } from './lock-quota.ts';
import { toLock } from './lock-row.ts';
import { joinLine, type LinePath, newestRequests, removeWaits, type Urgency } from './waits.ts';

export interface AcquireRequest extends LockKey {
  readonly path: LockPath;
  readonly type: LockType;
  readonly ttl: Ttl;
  readonly bearer: Bearer;
  readonly origin: string | null;
  /** True for Git LFS users. Git LFS has no ttl: see isLfsRenewalDue(). */
  readonly fromLfs?: boolean;
  readonly branch?: BranchName | undefined;
  /** A person holds the lock until the file is merged: see latest/release-merged.ts. */
  readonly untilMerged?: boolean;
  readonly note?: string | null | undefined;
  readonly wait?: Place | undefined;
}

/** The wait of a request in line. */
export interface Place {
  readonly id: string;
  readonly requestId: string;
  /** Whether the request has not been in line yet. Afterwards, it is decided only if it is the newest of its client. */
  readonly isFirst: boolean;
  readonly urgency: Urgency;
  readonly presentMs: number;
}

export type AcquireDecision =
  | { readonly kind: 'acquired'; readonly lock: Lock }
  | Obstacle
  /** The path is free, and kept for another. */
  | { readonly kind: 'kept'; readonly next: Next }
  /** The client has asked again since then, or has not asked for too long. */
  | { readonly kind: 'superseded' }
  | { readonly kind: 'too-many-waits' }
  | QuotaExceeded;

/** Whether the request may be granted later. */
export const isBlocked = (kind: string): boolean => ['held', 'closed', 'kept'].includes(kind);

/** What an instance grants locks by. */
export interface LockTerms {
  readonly quota: LockQuota;
  /** For workspaces that do not say how long a path stays closed after its lock has expired. */
  readonly delayMs: number;
}

export const noTerms: LockTerms = { quota: noLockQuota, delayMs: 0 };

const key = ['workspace_id', 'path'] as const;

const ownerColumns = ['token_id', 'owner', 'origin', 'note'] as const;
const textColumns = ['id', 'type', ...ownerColumns, 'folded_path', 'branch', 'merge_base', 'lease_id'] as const;
const numberColumns = ['from_lfs', 'until_merged', 'fence'] as const;

const replacedColumns = [...textColumns, ...numberColumns, 'acquired_at', 'expires_at', 'delay_ms'] as const;

/** The upsert decides: a new lock replaces no row, or a lock that no longer keeps its path by the clock of the database. */
const upsertLocks = batchQuery((db, members, now) =>
  insertFrom(db, withTime(members, now), 'locks', {
    ...textsOf([...key, ...textColumns]),
    ...numbersOf(numberColumns),
    acquired_at: sql`asked.now`,
    expires_at: sql`asked.now + ${numberOf('ttl')}`,
    delay_ms: delayOf(textOf('workspace_id'), numberOf('delayMs')),
  })
    .onConflict((conflict) =>
      conflict
        .columns(key)
        .doUpdateSet(excludedOf(replacedColumns))
        .where(sql<boolean>`not ${isTaken(now)}`),
    )
    .returningAll(),
);

/** How long the path of a new lock stays closed if the lock expires: what its workspace says, or the service. */
export const delayOf = (workspace: RawBuilder<string>, ofService: RawBuilder<number>) =>
  sql<number>`coalesce((select lock_delay_ms from workspaces where workspaces.id = ${workspace}), ${ofService})`;

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
 * Decides requests in their order, with the same few queries for any number of them. A request that may wait, and finds
 * its path taken, is in line afterwards.
 */
export async function acquireLocks(
  db: Database,
  now: Now,
  requests: readonly AcquireRequest[],
  terms: LockTerms = noTerms,
): Promise<readonly AcquireDecision[]> {
  const waits = requests.flatMap(({ wait }) => wait ?? []);
  const newest = waits.every(({ isFirst }) => isFirst) ? [] : await newestRequests(db, now, waits);
  const newestOf = new Map(waits.map(({ id }, index) => [id, newest[index]]));
  const isSuperseded = ({ wait }: AcquireRequest): boolean => {
    if (wait === undefined || wait.isFirst) return false;
    return newestOf.get(wait.id) !== wait.requestId;
  };
  const decisions: AcquireDecision[] = requests.map(() => ({ kind: 'superseded' }));
  const decide = async (indexes: readonly number[]) => {
    const decided = await acquireFree(
      db,
      now,
      indexes.flatMap((index) => requests[index] ?? []),
      terms,
    );
    for (const [position, index] of indexes.entries()) decisions[index] = decided[position] ?? { kind: 'superseded' };
  };
  await decide(indexesOf(requests, (request) => !isSuperseded(request)));
  if (waits.length === 0) return decisions;

  const blocked = indexesOf(decisions, ({ kind }) => isBlocked(kind)).filter(
    (index) => requests[index]?.wait !== undefined,
  );
  const joined = await joinLine(
    db,
    now,
    blocked.flatMap((index) => waitsOf(requests[index])),
  );
  for (const [position, index] of blocked.entries()) {
    if (joined[position] === false) decisions[index] = { kind: 'too-many-waits' };
  }
  // In line, they may be before the one that the path was kept for.
  await decide(blocked.filter((index) => decisions[index]?.kind === 'kept' && requests[index]?.wait?.isFirst));
  const granted = decisions.flatMap(({ kind }, index) => (kind === 'acquired' ? (requests[index]?.wait ?? []) : []));
  if (granted.length > 0) await removeWaits(db, now, granted);
  return decisions;
}

const indexesOf = <Member>(list: readonly Member[], matches: (member: Member) => boolean): readonly number[] =>
  list.flatMap((member, index) => (matches(member) ? [index] : []));

function waitsOf(request: AcquireRequest | undefined) {
  if (request?.wait === undefined) return [];
  const { workspace, path, bearer, origin, note = null, wait } = request;
  const paths = [{ path: linePathOf(request).path, askedPath: path }];
  return [
    {
      ...wait,
      kind: 'lock' as const,
      workspace,
      paths,
      wanted: 1,
      tokenId: bearer.id,
      owner: bearer.owner,
      origin,
      note,
    },
  ];
}

/** If several ask for the same path (with folded paths, also in different case), the first one gets it. */
async function acquireFree(
  db: Database,
  now: Now,
  requests: readonly AcquireRequest[],
  terms: LockTerms,
): Promise<readonly AcquireDecision[]> {
  if (requests.length === 0) return [];
  const found = await findLocks(db, now, requests);
  const open = indexesOf(found, (lock) => !lock?.isTaken);
  const kept = await keptFor(
    db,
    now,
    open.flatMap((index) => (requests[index] ? [linePathOf(requests[index])] : [])),
  );
  const keepers = new Map(open.map((index, position) => [index, kept[position]]));
  const decisions = requests.map((request, index): AcquireDecision | undefined => {
    const [lock, next] = [found[index], keepers.get(index)];
    if (lock?.isTaken) return obstacleIn(lock);
    return next === undefined || isKeptFor(next, request.wait?.id, request.bearer) ? undefined : { kind: 'kept', next };
  });

  const free = requests.flatMap((request, index) =>
    decisions[index] === undefined ? { request, index, lockId: newLockId(), expired: found[index] } : [],
  );
  const byPath = Map.groupBy(free, ({ request }) => JSON.stringify(linePathOf(request)));
  const grantable = [...byPath.values()].flatMap(([first]) => first ?? []);
  const owners = grantable.map(({ request: { workspace, bearer } }) => ({ workspace, owner: bearer.owner, count: 1 }));
  const exceeded = await terms.quota(db, now, owners);
  for (const [position, { index }] of grantable.entries()) decisions[index] = exceeded[position];
  const withinQuota = grantable.filter((_, position) => exceeded[position] === undefined);
  for (const { index, lock } of await grant(db, now, withinQuota, terms))
    decisions[index] = { kind: 'acquired', lock: toLock(lock) };
  // A person who takes the path that was kept for them has no more request for it.
  const taken = free.flatMap(({ index }) => {
    const next = keepers.get(index);
    return next?.kind === 'ask' && decisions[index]?.kind === 'acquired' ? next : [];
  });
  if (taken.length > 0) await removeWaits(db, now, taken);

  const undecided = indexesOf(decisions, (decision) => decision === undefined);
  const later = await acquireFree(
    db,
    now,
    undecided.flatMap((index) => requests[index] ?? []),
    terms,
  );
  for (const [position, index] of undecided.entries()) decisions[index] = later[position];
  return decisions.flatMap((decision) => decision ?? []);
}

/** Whether a client may lock a path that is kept for this lease: its own, or one of the same person. */
export const isKeptFor = (next: Next, waitId: string | undefined, { owner }: Pick<Bearer, 'owner'>): boolean =>
  next.id === waitId || (next.kind === 'ask' && next.owner === owner);

/** Stores and returns the locks of these requests, without those whose path is no longer free. */
async function grant(db: Database, now: Now, grantable: readonly GrantableRequest[], { delayMs }: LockTerms) {
  if (grantable.length === 0) return [];
  const workspaces = grantable.map(({ request }) => request.workspace);
  const fences = await nextFences(db, now, workspaces);
  const rows = grantable.map((each, index) => ({ ...newLock(each, fences[index]), delayMs }));
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
  return granted;
}

/** The line of a path: paths that share a lock share a line. */
export const linePathOf = ({ workspace, path, foldedPath = path }: LockKey): LinePath => ({
  workspace,
  path: foldedPath,
});

const newLock = ({ lockId, request }: GrantableRequest, fence: number | undefined) => ({
  workspace_id: request.workspace,
  path: request.path,
  id: lockId,
  type: request.type,
  token_id: request.bearer.id,
  owner: request.bearer.owner,
  origin: request.origin,
  note: request.note,
  folded_path: request.foldedPath,
  from_lfs: request.fromLfs ? 1 : 0,
  branch: request.branch,
  until_merged: isUntilMerged(request) ? 1 : 0,
  fence,
  ttl: milliseconds(request.ttl),
});

/** Jobs rely on their locks for as long as they run. */
const isUntilMerged = ({ untilMerged, origin, bearer }: AcquireRequest): boolean =>
  untilMerged === true && origin === null && bearer.run === undefined;
