import { randomUUID } from 'node:crypto';
import { Refusal } from '../contract/problem.ts';
import type { ApiResponse } from '../contract/response.ts';
import type { KeyedRequest } from '../idempotency/keyed-request.ts';
import { recordEvents } from '../outbox/outbox.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import { type AcquireRequest, linePathOf, type Place } from './acquire.ts';
import { findLocks } from './find.ts';
import { requestedEvent } from './history.ts';
import {
  defaultUrgency,
  isInLine,
  joinLines,
  keepPresent,
  type LinePath,
  type PlaceRequest,
  presenceMs,
  requestGapMs,
  type Urgency,
} from './line.ts';
import { queuePositionOf } from './read-queue.ts';
import type { LockWaiters, PlacedWait, WaitOutcome } from './waiters.ts';

/** How a client waits for a lock (RFC 7240, `Prefer: wait`). */
export interface WaitOptions {
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

const noWait = { seconds: 0, any: false, urgency: defaultUrgency, gone: new AbortController().signal } as const;

interface WaitingLineOptions {
  readonly storage: Pick<Storage, 'batchCommits' | 'commit' | 'read' | 'now'>;
  readonly waiters: LockWaiters;
  readonly attempt: (keyed: KeyedRequest | undefined, request: AcquireRequest) => Promise<ApiResponse>;
  /** Tells all instances that the line of a path has changed. */
  readonly onChange: (line: LinePath) => void;
  readonly onError: (error: unknown) => void;
}

interface AcquireEnd {
  readonly result: ApiResponse | Refusal;
  /** Whether the preferred wait was applied. */
  readonly waited: boolean;
  /** Another path that is free now, for a client to which one of several is enough. */
  readonly turn?: string;
}

export function createWaitingLine({ storage, waiters, attempt, onChange, onError }: WaitingLineOptions) {
  const { now } = storage;
  const join = storage.batchCommits(
    ({ workspace }: PlaceRequest) => ({ workspace }),
    (db, requests) => joinAndNotify(db, now, requests),
  );

  /** Acquires the lock at the turn of the request. Rejects with the last refusal when the wait ends before that. */
  async function acquire(
    keyed: KeyedRequest | undefined,
    request: AcquireRequest,
    options: WaitOptions | undefined,
  ): Promise<ApiResponse> {
    const line = linePathOf(request);
    const place = placeOf(keyed, line, options);
    const { result, waited, turn } = await acquireAtTurn(keyed, { ...request, place }, options);
    const headers: Record<string, string> = waited ? { 'preference-applied': `wait=${options?.seconds}` } : {};
    if (!(result instanceof Refusal)) return { ...result, headers: { ...result.headers, ...headers } };
    const queue = await queuePositionOf(storage, { ...line, placeId: place?.id ?? null });
    const { problem, message, extras } = result;
    throw new Refusal(problem, message, {
      ...{ ...extras, ...(turn !== undefined && { turn: [turn] }), queue },
      headers: { ...extras.headers, ...headers },
    });
  }

  async function acquireAtTurn(
    keyed: KeyedRequest | undefined,
    request: AcquireRequest,
    options: WaitOptions | undefined,
  ): Promise<AcquireEnd> {
    const waited = options !== undefined;
    const deadline = performance.now() + (options?.seconds ?? 0) * 1_000;
    const { place } = request;
    const result = await acquireOrRefusal(keyed, request);
    if (!(result instanceof Refusal) || place === undefined) return { result, waited };
    if (options === undefined && !(await isInLine(storage, { placeId: place.id }))) {
      // It may have been in line until now: see below.
      return { result: await acquireOrRefusal(keyed, request), waited };
    }
    const wait = await joinLine(request, place, options);
    const placed = { ...request, place: { ...place, requestId: wait.requestId } };
    /** Others must not wait for a client whose request is refused. After other errors, it tries again. */
    async function acquireInLine(authenticate?: () => Promise<unknown>): Promise<ApiResponse | Refusal> {
      try {
        await authenticate?.();
        return await acquireOrRefusal(keyed, placed);
      } catch (error) {
        await leave(wait, { kind: error instanceof Refusal ? 'gone' : 'timeout' });
        throw error;
      }
    }
    // No earlier request of the client can be granted any more, but one may have been.
    const inLine = await acquireInLine();
    if (!(inLine instanceof Refusal)) {
      await leave(wait, { kind: 'timeout' });
      return { result: inLine, waited };
    }
    if (options === undefined || options.seconds === 0) return { result: inLine, waited };
    return acquireWhenFirst(wait, deadline, inLine, () => acquireInLine(options.authenticate));
  }

  async function joinLine(
    { bearer, origin, note = null, ...request }: AcquireRequest,
    { id: placeId }: Place,
    options: WaitOptions | undefined,
  ): Promise<Omit<PlacedWait, 'ms'>> {
    const { seconds, any, urgency, gone } = options ?? noWait;
    const place = { ...linePathOf(request), placeId, requestId: randomUUID(), tokenId: bearer.id };
    const { paths } = await join({
      ...{ ...place, askedPath: request.path, owner: bearer.owner, origin, note, urgency },
      presentMs: options === undefined ? 0 : seconds > 0 ? presenceMs : requestGapMs,
    });
    return { ...place, paths, any, gone };
  }

  async function acquireWhenFirst(
    wait: Omit<PlacedWait, 'ms'>,
    deadline: number,
    refusal: Refusal,
    acquireInLine: () => Promise<ApiResponse | Refusal>,
  ): Promise<AcquireEnd> {
    for (let last = refusal; ; ) {
      const waiting = waiters.waitForTurn({ ...wait, ms: Math.max(0, deadline - performance.now()) });
      const outcome = (await waiting) ?? { kind: 'timeout' };
      if (outcome.kind !== 'turn') {
        await leave(wait, outcome);
        const elsewhere = outcome.kind === 'turn-elsewhere' && { turn: outcome.path };
        // Too many clients wait already: without the header, the client knows that nobody waited.
        return { result: last, waited: waiting !== undefined, ...elsewhere };
      }
      const result = await acquireInLine();
      if (!(result instanceof Refusal)) return { result, waited: true };
      last = result;
    }
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

  /** Others are served at once when a client goes, and a moment later when its wait has ended as agreed. */
  async function leave(wait: Omit<PlacedWait, 'ms'>, { kind }: WaitOutcome): Promise<void> {
    // This instance stops, and the client will ask another one.
    if (kind === 'stopped') return;
    const { workspace, placeId, requestId, paths } = wait;
    const presentMs = kind === 'gone' ? 0 : requestGapMs;
    try {
      const left = await storage.commit({ workspace }, (db) =>
        keepPresent(db, now, [{ placeId, requestId, presentMs }]),
      );
      if (left.length > 0) for (const path of paths) onChange({ workspace, path });
    } catch (error) {
      onError(error);
    }
  }

  /** Called periodically: others wait for the clients that wait here. */
  async function keepAllPresent(): Promise<void> {
    for (const [workspace, places] of Map.groupBy(waiters.places(), (place) => place.workspace)) {
      const present = places.map(({ placeId, requestId }) => ({ placeId, requestId, presentMs: presenceMs }));
      const kept = await storage.commit({ workspace }, (db) => keepPresent(db, now, present));
      const newest = new Set(kept.map(({ id }) => id));
      for (const { placeId, giveWay } of places) if (!newest.has(placeId)) giveWay();
    }
  }

  return { acquire, keepPresent: keepAllPresent };
}

/** Puts the requests in line, and queues an event for each one that has started to wait for a held lock. */
export async function joinAndNotify(
  db: Database,
  now: Now,
  requests: readonly PlaceRequest[],
): ReturnType<typeof joinLines> {
  const joined = await joinLines(db, now, requests);
  const fresh = requests.flatMap((request, index) => {
    const place = joined[index];
    return place?.isNew ? { ...request, since: place.since } : [];
  });
  if (fresh.length === 0) return joined;
  const asked = fresh.map(({ workspace, path, askedPath }) => ({ workspace, path: askedPath, foldedPath: path }));
  const locks = await findLocks(db, now, asked);
  const events = fresh.flatMap(({ owner, origin, note, since }, index) => {
    const lock = locks[index];
    return lock?.isActive ? requestedEvent(lock, { owner, origin, note }, since) : [];
  });
  await recordEvents(db, now, events);
  return joined;
}

/** Keys that differ only after their last slash name one place, for a client that asks for several paths. */
function placeOf(
  keyed: KeyedRequest | undefined,
  { workspace }: LinePath,
  options: WaitOptions | undefined,
): Place | undefined {
  if (keyed === undefined) {
    return options === undefined ? undefined : { id: `${workspace} ${randomUUID()}`, endsWithGrant: true };
  }
  const { tokenId, key } = keyed;
  const end = key.lastIndexOf('/');
  const isOfSeveral = end > 0;
  return {
    id: `${workspace} ${tokenId} ${isOfSeveral ? key.slice(0, end) : key}`,
    endsWithGrant: !isOfSeveral || options?.any === true,
  };
}
