import { randomUUID } from 'node:crypto';
import { Refusal } from '../contract/problem.ts';
import type { ApiResponse } from '../contract/response.ts';
import type { KeyedRequest } from '../idempotency/keyed-request.ts';
import { recordEvents } from '../outbox/outbox.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import { type AcquireRequest, linePathOf, type Place } from './acquire.ts';
import { findLocks } from './find.ts';
import {
  betweenRequestsMs,
  type JoinedPlace,
  joinLines,
  keepPresent,
  type LinePath,
  type PlaceRequest,
  presenceMs,
  type Urgency,
} from './line.ts';
import { requestedEvent } from './lock-events.ts';
import { queuePositionOf } from './read-queue.ts';
import type { LockWaiters, PlacedOutcome } from './waiters.ts';

/** How a client waits for a lock (RFC 7240, `Prefer: wait`). */
export interface WaitTerms {
  /** 0: the request gets a place in line, and an immediate response. */
  readonly seconds: number;
  /** The client asks for several paths, and one is enough. */
  readonly any: boolean;
  readonly urgency: Urgency;
  /** Aborted when the client has disconnected. */
  readonly gone: AbortSignal;
  /** Rejects if the client has lost its permission meanwhile. */
  readonly authenticate: () => Promise<unknown>;
}

interface WaitingLine {
  /** Acquires the lock at the turn of the request. Rejects with the last refusal when the wait ends before that. */
  acquire(keyed: KeyedRequest | undefined, request: AcquireRequest, terms: WaitTerms | undefined): Promise<ApiResponse>;
  /** Called periodically: others wait for the clients that wait here. */
  keepPresent(): Promise<void>;
}

export interface WaitingLineOptions {
  readonly storage: Pick<Storage, 'batchCommits' | 'commit' | 'read' | 'now'>;
  readonly waiters: LockWaiters;
  readonly attempt: (keyed: KeyedRequest | undefined, request: AcquireRequest) => Promise<ApiResponse>;
  /** Tells all instances that the line of a path has changed. */
  readonly onChange: (place: LinePath) => void;
  readonly onError: (error: unknown) => void;
}

export function createWaitingLine({ storage, waiters, attempt, onChange, onError }: WaitingLineOptions): WaitingLine {
  const { now } = storage;
  const join = storage.batchCommits(
    ({ workspace }: PlaceRequest) => ({ workspace }),
    (db, requests) => joinAndNotify(db, now, requests),
  );

  function setPresence({ workspace }: LinePath, placeId: string, presentMs: number): Promise<void> {
    return storage
      .commit({ workspace }, async (db) => void (await keepPresent(db, now, [{ placeId, presentMs }])))
      .catch(onError);
  }

  async function acquireOrRefusal(
    keyed: KeyedRequest | undefined,
    request: AcquireRequest,
  ): Promise<ApiResponse | Refusal> {
    try {
      return await attempt(keyed, request);
    } catch (error) {
      if (error instanceof Refusal && error.problem === 'locked') return error;
      throw error;
    } finally {
      waiters.changed(linePathOf(request));
    }
  }

  /** Adds the place in line to a refusal. */
  async function withQueue(
    refusal: Refusal,
    line: LinePath,
    placeId: string | null,
    extras: { readonly turn?: readonly string[]; readonly applied?: Readonly<Record<string, string>> } = {},
  ): Promise<Refusal> {
    const queue = await queuePositionOf(storage, { ...line, placeId });
    const { headers, ...rest } = refusal.extras;
    return new Refusal(refusal.problem, refusal.message, {
      ...rest,
      queue,
      ...(extras.turn && { turn: extras.turn }),
      headers: { ...headers, ...extras.applied },
    });
  }

  /** Others are served at once when a client goes, and a moment later when its wait has ended as agreed. */
  async function leave(line: LinePath, place: Place, joined: JoinedPlace, outcome: PlacedOutcome): Promise<void> {
    // The client has asked again, and that request waits now; or this instance stops, and the client will.
    if (outcome.kind === 'stopped' || waiters.has(place.id)) return;
    await setPresence(line, place.id, outcome.kind === 'gone' ? 0 : betweenRequestsMs);
    for (const path of joined.paths) onChange({ ...line, path });
  }

  return {
    async acquire(keyed, request, terms) {
      const line = linePathOf(request);
      const place = placeOf(keyed, line, terms);
      const placed = { ...request, place };
      const { key = randomUUID() } = keyed ?? {};
      if (place !== undefined) waiters.giveWay(place.id, key);
      let result = await acquireOrRefusal(keyed, placed);
      if (terms === undefined || place === undefined) {
        if (result instanceof Refusal) throw await withQueue(result, line, place?.id ?? null);
        return result;
      }
      const { seconds, any, urgency, gone } = terms;
      const applied = { 'preference-applied': `wait=${seconds}` };
      if (!(result instanceof Refusal)) return { ...result, headers: { ...result.headers, ...applied } };
      const deadline = performance.now() + seconds * 1_000;
      const { id: placeId } = place;
      for (;;) {
        const ms = deadline - performance.now();
        const { bearer, origin, note = null, path: askedPath } = request;
        const joined = await join({
          ...{ ...line, placeId, askedPath, tokenId: bearer.id, owner: bearer.owner, origin, note, urgency },
          presentMs: ms > 0 ? presenceMs : betweenRequestsMs,
        });
        if (ms <= 0) throw await withQueue(result, line, placeId, { applied });
        const waiting = waiters.waitForTurn({
          ...{ ...line, placeId, key, tokenId: bearer.id, paths: joined.paths, any, ms, gone },
        });
        // Too many clients wait already: without the header, the client knows that nobody waited.
        if (waiting === undefined) throw await withQueue(result, line, placeId);
        const outcome = await waiting;
        if (outcome.kind === 'turn') {
          try {
            await terms.authenticate();
            result = await acquireOrRefusal(keyed, placed);
          } catch (error) {
            await leave(line, place, joined, { kind: 'gone' });
            throw error;
          }
          if (result instanceof Refusal) continue;
          return { ...result, headers: { ...result.headers, ...applied } };
        }
        await leave(line, place, joined, outcome);
        const turn = outcome.kind === 'turn-elsewhere' ? { turn: [outcome.path] } : {};
        throw await withQueue(result, line, placeId, { applied, ...turn });
      }
    },
    async keepPresent() {
      for (const [workspace, places] of Map.groupBy(waiters.places(), (place) => place.workspace)) {
        const present = places.map(({ placeId }) => ({ placeId, presentMs: presenceMs }));
        await storage.commit({ workspace }, (db) => keepPresent(db, now, present));
      }
    },
  };
}

/** Puts the requests in line, and notifies the holders of the paths of each new one. */
export async function joinAndNotify(
  db: Database,
  now: Now,
  requests: readonly PlaceRequest[],
): Promise<readonly JoinedPlace[]> {
  const joined = await joinLines(db, now, requests);
  await notifyHolders(
    db,
    now,
    requests.flatMap((request, index) => {
      const place = joined[index];
      return place?.isNew ? { ...request, since: place.since } : [];
    }),
  );
  return joined;
}

/** Queues an event for each request that has begun to wait for a lock. */
async function notifyHolders(
  db: Database,
  now: Now,
  requests: readonly (PlaceRequest & Pick<JoinedPlace, 'since'>)[],
): Promise<void> {
  if (requests.length === 0) return;
  const places = requests.map(({ workspace, path, askedPath }) => ({ workspace, path: askedPath, foldedPath: path }));
  const locks = await findLocks(db, now, places);
  const events = requests.flatMap(({ owner, origin, note, since }, index) => {
    const lock = locks[index];
    return lock?.live ? requestedEvent(lock, { owner, origin, note }, since) : [];
  });
  await recordEvents(db, now, events);
}

/**
 * A key names a place. Keys that differ only after their last slash name the same one, for a client that asks for
 * several paths.
 */
function placeOf(
  keyed: KeyedRequest | undefined,
  { workspace }: LinePath,
  terms: WaitTerms | undefined,
): Place | undefined {
  if (keyed === undefined) {
    return terms === undefined ? undefined : { id: `${workspace} ${randomUUID()}`, endsWithGrant: true };
  }
  const { tokenId, key } = keyed;
  const end = key.lastIndexOf('/');
  const isOfSeveral = end > 0;
  return {
    id: `${workspace} ${tokenId} ${isOfSeveral ? key.slice(0, end) : key}`,
    endsWithGrant: !isOfSeveral || terms?.any === true,
  };
}
