import { randomUUID } from 'node:crypto';
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
  betweenRequestsMs,
  type FirstInLine,
  firstInLines,
  isAhead,
  keepPresent,
  type LinePath,
  newestRequests,
  removePlaces,
} from './line.ts';
import { type LockQuota, noLockQuota, type QuotaExceeded } from './lock-quota.ts';
import { lockOf } from './lock-row.ts';

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

/** The place in line of a request: see line.ts. */
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

/** Text columns of newLock(). */
const texts = [
  ...(['id', 'type', 'token_id', 'owner', 'origin', 'note', 'noted_lock_id', 'folded_path', 'desk_id'] as const),
  ...(['branch', 'merge_base'] as const),
] as const;

const replaced = [...texts, 'fence', 'acquired_at', 'expires_at'] as const;

/** The upsert decides: a new lock replaces no row, or a lock that has expired by the clock of the database. */
const upsertLocks = batchQuery((db, members, now) =>
  insertFrom(db, withTime(members, now), 'locks', {
    ...textsOf([...key, ...texts]),
    fence: numberOf('fence'),
    acquired_at: sql`asked.now`,
    expires_at: sql`asked.now + ${numberOf('ttl')}`,
  })
    .onConflict((conflict) =>
      conflict.columns(key).doUpdateSet(excludedOf(replaced)).where(sql<boolean>`locks.expires_at <= ${now}`),
    )
    .returningAll(),
);

/** Reads the clock once for each member: between two readings, the clock of PostgreSQL advances. */
const withTime = (members: Members, now: Now): Members =>
  sql<{ key: string; value: string }>`(select asked.*, ${now} as now from ${members})`.as('asked');

interface FreePath {
  readonly request: AcquireRequest;
  readonly index: number;
  readonly id: string;
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
  const before = await findLocks(db, now, requests);
  const superseded = await areSuperseded(db, now, requests);
  const decided = before.map((found, index): AcquireDecision | QuotaExceeded | undefined =>
    superseded[index] ? { kind: 'superseded' } : found?.live ? heldDecision(found) : undefined,
  );
  const questions = requests.map((request) => ({ ...linePathOf(request), placeId: request.place?.id ?? null }));
  for (const [index, first] of (await firstInLines(db, now, questions)).entries()) {
    const isBehind = first !== undefined && isAhead(first, requests[index]?.place?.id ?? null);
    if (isBehind) decided[index] ??= { kind: 'queued', first };
  }

  const free = new Map<string, FreePath>();
  for (const [index, request] of requests.entries()) {
    const pathKey = JSON.stringify([request.workspace, request.foldedPath ?? request.path]);
    if (decided[index] !== undefined || free.has(pathKey)) continue;
    free.set(pathKey, { request, index, id: newLockId() });
  }
  const places = [...free.values()];
  const owners = places.map(({ request: { workspace, bearer } }) => ({ workspace, owner: bearer.owner }));
  const decisions = await quota(db, now, owners);
  const inserts = places.filter(({ index }, position) => {
    decided[index] = decisions[position];
    return decided[index] === undefined;
  });
  if (inserts.length > 0) {
    const workspaces = inserts.map(({ request }) => request.workspace);
    const fences = await nextFences(db, now, workspaces);
    const rows = inserts.map((insert, index) => newLock(insert, fences[index]));
    const taken = new Map((await upsertLocks(db, now, rows)).map((lock) => [lock.id, lock]));
    const changes: LockChange[] = [];
    for (const { id, index } of inserts) {
      const lock = taken.get(id);
      if (lock === undefined) continue;
      decided[index] = { kind: 'acquired', lock: lockOf(lock) };
      const expired = before[index];
      if (expired !== undefined) changes.push({ kind: 'expired', lock: expired });
      changes.push({ kind: 'acquired', lock });
    }
    await recordLockChanges(db, now, changes);
    const granted = inserts.flatMap(({ id, request: { place } }) =>
      place !== undefined && taken.has(id) ? place : [],
    );
    await endPlaces(db, now, granted);
  }

  const open = requests.filter((_, index) => decided[index] === undefined);
  if (open.length === 0) return decided.filter((acquisition) => acquisition !== undefined);
  const later = [...(await acquireLocks(db, now, open, quota))];
  return decided.flatMap((acquisition) => acquisition ?? later.splice(0, 1));
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
  const rows = places.map(({ id, endsWithGrant }) => ({ placeId: id, endsWithGrant, presentMs: betweenRequestsMs }));
  const { ended, kept } = Object.groupBy(rows, ({ endsWithGrant }) => (endsWithGrant ? 'ended' : 'kept'));
  if (ended !== undefined) await removePlaces(db, now, ended);
  if (kept !== undefined) await keepPresent(db, now, kept);
}

const heldDecision = (found: StoredLock): AcquireDecision => ({
  kind: 'held',
  lock: lockOf(found),
  remainingSeconds: found.remainingSeconds,
});

/**
 * A UUID that starts with the time (RFC 9562 section 5.7). New ids are adjacent in the index, instead of each changing
 * another page of it.
 */
function newLockId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `lock_${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

const newLock = ({ id, request }: FreePath, fence: number | undefined) => ({
  workspace_id: request.workspace,
  path: request.path,
  id,
  type: request.type,
  token_id: request.bearer.id,
  owner: request.bearer.owner,
  origin: request.origin,
  note: request.note,
  noted_lock_id: id,
  folded_path: request.foldedPath,
  desk_id: request.fromLfs ? id : undefined,
  branch: request.branch === undefined ? undefined : `${id} ${request.branch}`,
  merge_base: isUntilMerged(request) ? id : undefined,
  fence,
  ttl: milliseconds(request.ttl),
});

/** Jobs rely on their locks for as long as they run. */
const isUntilMerged = ({ untilMerged, origin, bearer }: AcquireRequest): boolean =>
  untilMerged === true && origin === null && bearer.run === undefined;
