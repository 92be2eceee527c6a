import { byPath, maxNamedPaths } from '../../interface/lock-path.ts';
import { isRefused } from '../../interface/outdated.ts';
import type { Compared } from '../../interface/resources.ts';
import { Refusal } from '../contract/response.ts';
import type { Database } from '../storage/storage.ts';
import { findRows, isActive, type LockKey, type LockRow, nameOf, type StoredLock } from './find.ts';
import { keptFor, type Next, selectAfterOthers } from './kept-paths.ts';
import type { LockQuota } from './lock-quota.ts';
import type { Presence } from './presence.ts';
import { type Blocked, outdatedRefusal } from './refusals.ts';
import { type Grant, type LockRequest, readWorkspaces, storeLocks } from './store-locks.ts';
import type { Place } from './wait-terms.ts';
import { extendPresence, joinLine, removeWaits, type WaitRequest } from './waits.ts';

/** A request for one lock, or for the locks of a lease. */
export interface TakeRequest extends LockRequest, Omit<WaitRequest, 'place'> {
  /** Undefined for a client that does not wait, or has stopped waiting. */
  readonly place?: Place | undefined;
  /** The result of comparing the files with other branches. */
  readonly comparison: Compared;
}

export interface TakeRules {
  readonly quota: LockQuota;
  readonly keepPresent: Presence['keepOverdue'];
}

export type TakeDecision =
  | { readonly kind: 'granted'; readonly locks: readonly LockRow[]; readonly comparison: Compared }
  | Blocked
  | Refusal;

/**
 * Decides requests in input order, with few queries for any number of them. A request with a place that finds too few
 * of its paths free is in line afterwards.
 */
export async function take(
  db: Database,
  asked: readonly TakeRequest[],
  rules: TakeRules,
): Promise<readonly TakeDecision[]> {
  const requests = asked.map(withoutRefused);
  const decisions: Decisions = new Map();
  for (const request of requests) {
    const { keys, wanted, comparison, lease } = request;
    if (keys.length < wanted) decisions.set(request, outdatedRefusal(comparison, lease !== undefined));
  }
  const undecided = () => requests.filter((request) => !decisions.has(request));
  for (const request of await withoutPlace(db, undecided())) decisions.set(request, placeLost(request));
  await grantFree(db, undecided(), rules, decisions);
  const blocked = requests.filter(hasPlace).filter((request) => decisions.get(request)?.kind === 'blocked');
  if (blocked.length > 0) {
    const refusals = await joinLine(db, blocked);
    for (const request of blocked) {
      const refusal = refusals.get(request.waitId);
      if (refusal !== undefined) decisions.set(request, refusal);
    }
    // Now that they are in line, they may be ahead of the lease that the path was kept for.
    const again = blocked.filter((request) => {
      const decision = decisions.get(request);
      return request.place.isFirst && decision?.kind === 'blocked' && decision.next !== undefined;
    });
    await grantFree(db, again, rules, decisions);
  }
  const decided = requests.map((request) => {
    const decision = decisions.get(request);
    if (decision === undefined) throw new Error('The request was not decided.');
    return { request, decision };
  });
  const left = decided.filter(({ request: { place, lease }, decision: { kind } }) =>
    place === undefined ? kind === 'blocked' || (kind === 'granted' && lease !== undefined) : kind === 'granted',
  );
  const leftIds = left.map(({ request: { waitId: id } }) => ({ id }));
  if (leftIds.length > 0) await removeWaits(db, leftIds);
  return decided.map(({ decision }) => decision);
}

type Decisions = Map<TakeRequest, TakeDecision>;

/** Removes paths that the workspace refuses: those of outdated files, or all if the files could not be compared. */
function withoutRefused(request: TakeRequest): TakeRequest {
  const { keys, comparison } = request;
  if (!isRefused(comparison)) return request;
  const outdated = new Set(comparison.outdated.map(({ path }) => path));
  const upToDate = comparison.gap === undefined ? keys.filter(({ path }) => !outdated.has(path)) : [];
  return { ...request, keys: upToDate };
}

const hasPlace = (request: TakeRequest): request is TakeRequest & { readonly place: Place } =>
  request.place !== undefined;

/** Requests whose place in line is gone, or now belongs to a newer request of the same client. */
async function withoutPlace(db: Database, requests: readonly TakeRequest[]): Promise<readonly TakeRequest[]> {
  const waited = requests.filter(hasPlace).filter(({ place }) => !place.isFirst);
  const places = waited.map(({ waitId: id, place }) => ({ ...place, id }));
  const kept = places.length === 0 ? [] : await extendPresence(db, places);
  const newest = new Set(kept.map(({ requestId }) => requestId));
  return waited.filter(({ place }) => !newest.has(place.requestId));
}

function placeLost({ lease, keys: [first] }: TakeRequest): Refusal {
  const place = lease === undefined ? `for ${first?.path}` : `of the lease ${lease}`;
  const detail = `The place ${place} in line was lost, or a newer request of this client has it. Try again.`;
  return new Refusal('request-in-progress', detail, { headers: { 'retry-after': '1' } });
}

/** If several requests want the same path, the first one gets it. */
async function grantFree(
  db: Database,
  requests: readonly TakeRequest[],
  rules: TakeRules,
  decisions: Decisions,
): Promise<void> {
  if (requests.length === 0) return;
  let [states, ofWorkspaces] = await Promise.all([readStates(db, requests), readWorkspaces(db, requests)]);
  // Checked after the first query, which may have waited for other changes for longer than others wait for a client.
  if (await rules.keepPresent(db, requests)) states = await readStates(db, requests);
  const { lockOn, keepers } = states;
  const claimed = new Set<string>();
  const grants: (Grant & { readonly request: TakeRequest })[] = [];
  const later: TakeRequest[] = [];
  for (const request of requests) {
    const { wanted } = request;
    const keys = request.keys.filter((key) => inTheWay(request, key, states) === undefined).slice(0, wanted);
    const names = requests.length === 1 ? [] : keys.map((key) => nameOf(key));
    // Checked after the first query, which may have waited for other changes.
    if (request.place?.gone.aborted) decisions.set(request, placeLost(request));
    else if (keys.length < wanted) decisions.set(request, blockedBy(request, states));
    else if (names.some((name) => claimed.has(name))) later.push(request);
    else {
      for (const name of names) claimed.add(name);
      // Rows in index order change each page of the index once: a large lease takes a third less time.
      grants.push({ request, keys: keys.toSorted(byPath), replaced: keys.flatMap((key) => lockOn.get(key) ?? []) });
    }
  }

  const asked = grants.map(({ request }) => request);
  const refusals = await rules.quota(db, asked);
  for (const [request, refusal] of refusals) decisions.set(request, refusal);
  const granted = grants.filter(({ request }) => !refusals.has(request));
  const stored = await storeLocks(db, granted, ofWorkspaces);
  for (const [index, { request }] of granted.entries()) {
    decisions.set(request, { kind: 'granted', locks: stored[index] ?? [], comparison: request.comparison });
  }
  // Nobody waits for a path that they just got: a person who asked for it, or a client that has stopped waiting.
  const over = granted.flatMap(({ keys, request: { place } }) =>
    keys.flatMap((key) => keepers.get(key) ?? []).filter(({ kind }) => kind !== 'request' || place === undefined),
  );
  if (over.length > 0) await removeWaits(db, over);
  await grantFree(db, later, rules, decisions);
}

/** The locks and the waiting leases on the paths of requests. */
interface PathStates {
  /** Locks, including expired ones whose rows still exist. */
  readonly lockOn: ReadonlyMap<LockKey, StoredLock>;
  /** The waiting leases that free paths are kept for. */
  readonly keepers: ReadonlyMap<LockKey, Next>;
}

type Wanted = Pick<TakeRequest, 'keys' | 'wanted' | 'waitId' | 'bearer' | 'place'>;

/** The lease that a free path is kept for matters only if enough of the paths are free. */
async function readStates(db: Database, requests: readonly Wanted[]): Promise<PathStates> {
  const keys = requests.flatMap((request) => request.keys);
  // A request without a place gives up the wait of its client, which must therefore count as ahead of it.
  const places = requests.map(({ keys: [first], place, waitId }) => ({
    workspace: first?.workspace,
    waitId: place && waitId,
  }));
  const [rows, afterOthers] = await Promise.all([findRows(db, keys), selectAfterOthers(db, places)]);
  const lockOn = foundOf(keys, rows);
  const free = afterOthers.flatMap(({ index, before }) => {
    const { keys = [], wanted = 1 } = requests[index] ?? {};
    const free = keys.filter((key) => !isActive(lockOn.get(key)));
    return free.length < wanted ? [] : free.map((key) => ({ key, before }));
  });
  const lines = free.map(({ key, before }) => ({ ...key, before }));
  const freeKeys = free.map(({ key }) => key);
  return { lockOn, keepers: foundOf(freeKeys, await keptFor(db, lines)) };
}

function foundOf<Found>(keys: readonly LockKey[], found: readonly (Found | undefined)[]): ReadonlyMap<LockKey, Found> {
  const entries = keys.flatMap((key, index) => {
    const each = found[index];
    return each === undefined ? [] : [[key, each] as const];
  });
  return new Map(entries);
}

/** A lock, or another lease that the path is kept for. A path kept for a person is free for all of their clients. */
function inTheWay(
  request: Wanted,
  key: LockKey,
  { lockOn, keepers }: PathStates,
): { readonly lock?: StoredLock; readonly next?: Next } | undefined {
  const lock = lockOn.get(key);
  if (isActive(lock)) return { lock };
  const next = keepers.get(key);
  return next === undefined || isKeptForIt(request, next) ? undefined : { next };
}

const isKeptForIt = ({ waitId, bearer: { owner } }: Wanted, next: Pick<Next, 'id' | 'kind' | 'owner'>): boolean =>
  next.id === waitId || (next.kind !== 'request' && next.owner === owner);

/** Decides like take() for a request in line, but grants nothing. */
export const blockedNow = async (db: Database, request: Wanted): Promise<Blocked> =>
  blockedBy(request, await readStates(db, [request]));

/** Most locks are released long before they expire. A client that sleeps until then would miss the release. */
const maxRetryAfterSeconds = 5;

export function blockedBy(request: Wanted, states: PathStates): Blocked {
  const { keys, wanted } = request;
  const taken = keys.flatMap((key) => {
    const found = inTheWay(request, key, states);
    return found === undefined ? [] : [{ key, ...found }];
  });
  // A lease that needs all of its paths can wait for any one of them. If it is chosen at random, only a few of
  // thousands of releases, in any order, cause another attempt.
  const locked = taken.filter(({ lock }) => lock !== undefined);
  const candidates = locked.length > 0 ? locked : taken;
  const one = Math.floor(Math.random() * candidates.length);
  const watched = wanted < keys.length ? taken : candidates.slice(one, one + 1);
  return {
    kind: 'blocked',
    paths: taken.slice(0, maxNamedPaths).map(({ key: { path }, lock }) => ({ path, ...(lock && { lock }) })),
    count: taken.length,
    // Rounded up: nobody retries before the first lock expires.
    retryAfterSeconds: taken.reduce(
      (least, { lock }) => Math.min(least, lock === undefined ? 1 : Math.ceil(lock.remainingMs / 1_000)),
      maxRetryAfterSeconds,
    ),
    next: taken.find(({ next }) => next !== undefined)?.next,
    watched: watched.map(({ key: { path } }) => ({
      path,
      // A path kept for nobody: a lease of several lacks others of its paths, and must watch one of those instead.
      isTurn: (found) => (found === undefined ? keys.length > 1 : isKeptForIt(request, found)),
    })),
    lookAgain: (db) => blockedNow(db, request),
  };
}
