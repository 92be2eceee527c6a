import type { Database, Now } from '../storage/storage.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { findLocks, type LockKey, type Obstacle, obstacleIn, type RecordedLock, type StoredLock } from './find.ts';
import { keptFor, type Next } from './line.ts';
import type { LockQuota, QuotaExceeded } from './lock-quota.ts';
import { type Grant, type LockRequest, storeLocks } from './store-locks.ts';
import { maxWaitSeconds, type WatchedPath } from './waiters.ts';
import { joinLine, type LinePath, newestRequests, removeWaits, type Urgency, type WaitRequest } from './waits.ts';

/** A request for one lock, or for those of a lease. */
export interface TakeRequest extends LockRequest {
  /** The paths that may be locked, each once, and how many of them are wanted. */
  readonly keys: readonly LockKey[];
  readonly wanted: number;
  /** The id of its wait, if it waits. */
  readonly waitId: string;
  /** Undefined for a client that does not wait, or no longer. */
  readonly place?: Place | undefined;
  /** For a lease, whose repeated request must have the same one. */
  readonly fingerprint?: string | undefined;
  /** Whether its paths may be others than those of its wait, although they are as many. */
  readonly mayVary?: boolean | undefined;
}

/** How a request waits in line. */
export interface Place {
  readonly requestId: string;
  /** Whether the request has not been in line yet. Afterwards, it is decided only if it is the newest of its client. */
  readonly isFirst: boolean;
  readonly urgency: Urgency;
  readonly presentMs: number;
}

export type TakeDecision =
  | { readonly kind: 'granted'; readonly locks: readonly RecordedLock[] }
  | Blocked
  /** The client has asked again since then, or has not asked for too long. */
  | { readonly kind: 'superseded' }
  | { readonly kind: 'too-many-waits' }
  | QuotaExceeded;

/** What an instance grants locks by. */
export interface LockTerms {
  readonly quota: LockQuota;
}

/**
 * Decides requests in their order, with the same few queries for any number of them. One that has a place, and finds too
 * few of its paths free, is in line afterwards.
 */
export async function take(
  db: Database,
  now: Now,
  requests: readonly TakeRequest[],
  terms: LockTerms,
): Promise<readonly TakeDecision[]> {
  const decisions = await supersededAmong(db, now, requests);
  await decide(
    db,
    now,
    requests.filter((request) => !decisions.has(request)),
    terms,
    decisions,
  );
  const blocked = requests.filter((request) => decisions.get(request)?.kind === 'blocked');
  const waiting = blocked.filter(isWaiting);
  if (waiting.length > 0) {
    const joined = await joinLine(db, now, waiting.map(waitOf));
    for (const [index, request] of waiting.entries()) {
      if (!joined[index]) decisions.set(request, { kind: 'too-many-waits' });
    }
    // In line, they may be before the one that a path was kept for.
    const again = waiting.filter((request) => {
      const decision = decisions.get(request);
      return request.place.isFirst && decision?.kind === 'blocked' && decision.next !== undefined;
    });
    await decide(db, now, again, terms, decisions);
  }
  const left = requests.filter((request) => {
    const kind = decisions.get(request)?.kind;
    return request.place === undefined
      ? kind === 'blocked' || (kind === 'granted' && request.lease !== undefined)
      : kind === 'granted';
  });
  if (left.length > 0) {
    await removeWaits(
      db,
      now,
      left.map(({ waitId }) => ({ id: waitId })),
    );
  }
  return requests.flatMap((request) => decisions.get(request) ?? []);
}

type Decisions = Map<TakeRequest, TakeDecision>;

/** Requests that have waited, and are no longer the newest ones of their clients. */
async function supersededAmong(db: Database, now: Now, requests: readonly TakeRequest[]): Promise<Decisions> {
  const waited = requests.filter(({ place }) => place?.isFirst === false);
  if (waited.length === 0) return new Map();
  const newest = await newestRequests(
    db,
    now,
    waited.map(({ waitId }) => ({ id: waitId })),
  );
  const superseded = waited.filter(({ place }, index) => newest[index] !== place?.requestId);
  return new Map(superseded.map((request) => [request, { kind: 'superseded' }]));
}

/** If several ask for the same path (with folded paths, also in different case), the first one gets it. */
async function decide(
  db: Database,
  now: Now,
  requests: readonly TakeRequest[],
  terms: LockTerms,
  decisions: Decisions,
): Promise<void> {
  if (requests.length === 0) return;
  const allKeys = requests.flatMap(({ keys }) => keys);
  const found = await findLocks(db, now, allKeys);
  const lockOn = new Map(allKeys.map((key, index) => [key, found[index]]));
  const freeOf = ({ keys, wanted }: TakeRequest): readonly LockKey[] => {
    const free = keys.filter((key) => !lockOn.get(key)?.isTaken);
    return free.length < wanted ? [] : free;
  };
  const keepers = await keepersOf(db, now, requests.flatMap(freeOf));

  const claimed = new Set<string>();
  const grants: (Grant & { readonly request: TakeRequest })[] = [];
  const later: TakeRequest[] = [];
  for (const request of requests) {
    const { wanted, waitId, bearer } = request;
    const keys = freeOf(request)
      .filter((key) => isOpenTo(keepers.get(key), waitId, bearer))
      .slice(0, wanted);
    const names = keys.map((key) => `${key.workspace} ${linePathOf(key).path}`);
    if (keys.length < wanted) decisions.set(request, blockedBy(request, lockOn, keepers));
    else if (names.some((name) => claimed.has(name))) later.push(request);
    else {
      for (const name of names) claimed.add(name);
      grants.push({ request, keys, replaced: keys.flatMap((key) => lockOn.get(key) ?? []) });
    }
  }

  const owners = grants.map(({ request: { workspace, bearer, wanted } }) => ({
    ...{ workspace, owner: bearer.owner, count: wanted },
  }));
  const exceeded = await terms.quota(db, now, owners);
  for (const [index, { request }] of grants.entries()) if (exceeded[index]) decisions.set(request, exceeded[index]);
  const granted = grants.filter((_, index) => exceeded[index] === undefined);
  const stored = await storeLocks(db, now, granted);
  for (const [index, { request }] of granted.entries()) {
    decisions.set(request, { kind: 'granted', locks: stored[index] ?? [] });
  }
  // Nobody waits for what they have: neither a person who has asked, nor a client that no longer waits.
  const over = granted.flatMap(({ keys, request: { place } }) =>
    keys.flatMap((key) => keepers.get(key) ?? []).filter(({ kind }) => kind === 'ask' || place === undefined),
  );
  if (over.length > 0) await removeWaits(db, now, over);
  await decide(db, now, later, terms, decisions);
}

type Keepers = ReadonlyMap<LockKey, Next>;

/** The leases that these free paths are kept for. */
export async function keepersOf(db: Database, now: Now, free: readonly LockKey[]): Promise<Keepers> {
  const kept = await keptFor(db, now, free.map(linePathOf));
  return new Map(free.flatMap((key, index) => (kept[index] === undefined ? [] : [[key, kept[index]]])));
}

/** A path may be kept for the client itself, or for the same person. */
const isOpenTo = (next: Next | undefined, waitId: string, { owner }: Pick<Bearer, 'owner'>): boolean =>
  next === undefined || next.id === waitId || (next.kind === 'ask' && next.owner === owner);

/** The line of a path: paths that share a lock share a line. */
export const linePathOf = ({ workspace, path, foldedPath = path }: LockKey): LinePath => ({
  workspace,
  path: foldedPath,
});

interface WaitingRequest extends TakeRequest {
  readonly place: Place;
}

const isWaiting = (request: TakeRequest): request is WaitingRequest => request.place !== undefined;

const waitOf = (request: WaitingRequest): WaitRequest => ({
  ...{ id: request.waitId, workspace: request.workspace, kind: 'request', wanted: request.wanted },
  paths: request.keys.map((key) => ({ path: linePathOf(key).path, askedPath: key.path })),
  ...{ tokenId: request.bearer.id, owner: request.bearer.owner, origin: request.origin, note: request.note ?? null },
  ...{ urgency: request.place.urgency, requestId: request.place.requestId, presentMs: request.place.presentMs },
  ...{ fingerprint: request.fingerprint, mayVary: request.mayVary },
});

/** Too few of the paths of a request are free. */
export interface Blocked {
  readonly kind: 'blocked';
  /** The first of the paths in its way. One without an obstacle is kept for another lease. */
  readonly paths: readonly { readonly path: string; readonly obstacle?: Obstacle }[];
  readonly count: number;
  readonly remainingSeconds: number;
  /** A lease that a free path is kept for. */
  readonly next: Next | undefined;
  /** The paths that must change before the request can be granted. */
  readonly watched: readonly WatchedPath[];
}

/** How many paths a response names. */
const maxNamed = 20;

export function blockedBy(
  { keys, wanted }: Pick<TakeRequest, 'keys' | 'wanted'>,
  lockOn: ReadonlyMap<LockKey, StoredLock | undefined>,
  keepers: Keepers,
): Blocked {
  const states = keys.map((key) => {
    const found = lockOn.get(key);
    const lock = found?.isTaken ? found : undefined;
    const by: WatchedPath['by'] = lock === undefined ? keepers.get(key) : 'lock';
    return { ...linePathOf(key), asked: key.path, lock, by };
  });
  const taken = states.filter(({ by }) => by !== undefined);
  // A lease that needs all of its paths needs each of them, so one is enough to wait for. Chosen at random, few of the
  // releases of thousands of paths, in whatever order, cause another attempt.
  const locked = taken.filter(({ lock }) => lock !== undefined);
  const inTheWay = locked.length > 0 ? locked : taken;
  const one = inTheWay[Math.floor(Math.random() * inTheWay.length)];
  return {
    kind: 'blocked',
    paths: taken
      .slice(0, maxNamed)
      .map(({ asked, lock }) => ({ path: asked, ...(lock !== undefined && { obstacle: obstacleIn(lock) }) })),
    count: taken.length,
    remainingSeconds: taken.reduce(
      (least, { lock }) => Math.min(least, lock === undefined ? 1 : Math.ceil(lock.opensInMs / 1_000)),
      maxWaitSeconds,
    ),
    next: keys.map((key) => keepers.get(key)).find((next) => next !== undefined),
    watched: wanted < keys.length || one === undefined ? states : [one],
  };
}
