import { maxTimerMs } from '../../interface/timers.ts';
import type { LockPlace, StoredLock } from './find.ts';

export const maxWaitSeconds = 30;

/** Clients that wait for a locked path. */

export interface WaitRequest extends LockPlace {
  readonly tokenId: string;
  readonly owner: string;
  readonly origin: string | null;
  /** Whether the token may acquire locks. All others only watch, and have no place in line. */
  readonly mayTake: boolean;
  readonly seconds: number;
  /** Aborted when the client has disconnected. */
  readonly gone: AbortSignal;
}

/** `free`: the path was just free, and the client is next in line or only watches. */
export type WaitOutcome = 'free' | 'timeout' | 'gone' | 'stopped';

export interface ReleasedLock extends LockPlace {
  readonly id: string;
}

export interface LockWaiters {
  /** Undefined if too many clients already wait: the response must then be sent at once. */
  wait(request: WaitRequest): Promise<WaitOutcome> | undefined;
  /** Must be called when a lock was released, by anyone. */
  released(lock: ReleasedLock): void;
  /** Must be called when a lock was renewed: it may expire sooner than before. */
  renewed(place: LockPlace): void;
  /** Waiting clients of locked paths. */
  waiting(): readonly WaitRequest[];
  stop(): void;
}

export interface LockWaitersOptions {
  /** Clients that wait for paths with the same key wait for the same lock. */
  readonly keyOfPath?: (path: string) => string;
  /** Rejected when the database does not answer. */
  readonly find: (place: LockPlace) => Promise<Pick<StoredLock, 'id' | 'live' | 'remainingMs'> | undefined>;
  /**
   * Calls back with each release by other processes, or with undefined if any lock may be released. Returns how to
   * stop.
   */
  readonly watchOthers: (onChange: (lock: ReleasedLock | undefined) => void) => () => void;
  /** Schedules work. Returns a function that cancels it. */
  readonly after: (ms: number, work: () => void) => () => void;
  readonly onCount: (workspace: string, change: 1 | -1) => void;
  readonly onError: (error: unknown) => void;
}

/** Each waiter holds a connection and a few hundred bytes: neither memory nor open files are a concern. */
export const maxWaiters = 2_000;
/** Keeps a single token from taking all places. */
export const maxWaitersOfToken = 1_000;

/**
 * Time that a notified client has to acquire the path before the next one is notified. It must cover a round trip and a
 * commit; most clients need a tenth of it. With less, two clients would compete for the path. With more, a client that
 * does nothing delays all others longer.
 */
export const graceMs = 250;

const lookAgainAfterErrorMs = 1_000;

interface Waiter {
  readonly request: WaitRequest;
  end(outcome: WaitOutcome): void;
}

/** Waiting clients of one path. Removed with the last of them. */
interface Queue {
  readonly place: LockPlace;
  /** In order of arrival; waiters of an owner who was notified and did nothing go last. */
  readonly waiters: Set<Waiter>;
  looking: boolean;
  /** The path may have changed during the current query. */
  lookAgain: boolean;
  /** False while a notified client may be about to acquire the path. */
  mayNotify: boolean;
  /** Owner who was notified, and let the grace period pass. */
  idleOwner: string | undefined;
  /** Ids of the lock last seen on the path, and of the last one known to have ended. */
  heldId: string | undefined;
  endedId: string | undefined;
  /** Cancels the timer for the end of the lock or of the grace period. */
  cancelTimer: () => void;
}

/**
 * Keeps a queue for each path with waiting clients. The database is queried for the first client, and then once per
 * change of the path, however many clients wait. There is no polling.
 */
export function createLockWaiters({
  keyOfPath = (path) => path,
  find,
  watchOthers,
  after,
  onCount,
  onError,
}: LockWaitersOptions): LockWaiters {
  const queues = new Map<string, Queue>();
  const ofToken = new Map<string, number>();
  let total = 0;
  let stopWatching = nothing;
  let stopped = false;

  const keyOf = ({ workspace, path }: LockPlace): string => JSON.stringify([workspace, keyOfPath(path)]);

  function count({ tokenId, workspace }: WaitRequest, change: 1 | -1): void {
    const own = (ofToken.get(tokenId) ?? 0) + change;
    if (own === 0) ofToken.delete(tokenId);
    else ofToken.set(tokenId, own);
    if (total === 0) stopWatching = watchOthers(onOthers);
    total += change;
    if (total === 0) stopWatching();
    onCount(workspace, change);
  }

  function setTimer(queue: Queue, ms: number, work: () => void): void {
    queue.cancelTimer();
    // Capping the timer is safe: when it fires early, the lock is looked up again.
    queue.cancelTimer = after(Math.min(ms, maxTimerMs), work);
  }

  function onFree(queue: Queue): void {
    if (queue.heldId !== undefined) {
      queue.endedId = queue.heldId;
      queue.heldId = undefined;
    }
    notifyWatchers(queue);
    // Otherwise the grace period continues.
    if (!queue.mayNotify) return;
    if (queue.idleOwner !== undefined) moveToEnd(queue, queue.idleOwner);
    queue.idleOwner = undefined;
    const [first] = queue.waiters;
    if (first === undefined) return;
    queue.mayNotify = false;
    setTimer(queue, graceMs, () => {
      queue.mayNotify = true;
      queue.idleOwner = first.request.owner;
      void look(queue);
    });
    first.end('free');
  }

  /** Watchers cannot acquire the path, so they need no grace period. */
  function notifyWatchers({ waiters }: Queue): void {
    for (const waiter of [...waiters]) if (!waiter.request.mayTake) waiter.end('free');
  }

  /** An idle owner delays others by one grace period, however many requests it has. */
  function moveToEnd({ waiters }: Queue, owner: string): void {
    for (const waiter of [...waiters]) {
      if (waiter.request.owner !== owner) continue;
      waiters.delete(waiter);
      waiters.add(waiter);
    }
  }

  async function look(queue: Queue): Promise<void> {
    queue.lookAgain = true;
    if (queue.looking) return;
    queue.looking = true;
    try {
      while (queue.lookAgain && queue.waiters.size > 0) {
        queue.lookAgain = false;
        const found = await find(queue.place);
        if (queue.waiters.size === 0) return;
        if (found?.live) {
          queue.heldId = found.id;
          queue.mayNotify = true;
          queue.idleOwner = undefined;
          // Remaining time by the clock of the database. The clock of this process may differ.
          setTimer(queue, found.remainingMs, () => void look(queue));
        } else onFree(queue);
      }
    } catch (error) {
      onError(error);
      queue.mayNotify = true;
      if (queue.waiters.size > 0) setTimer(queue, lookAgainAfterErrorMs, () => void look(queue));
    } finally {
      queue.looking = false;
    }
  }

  function released(lock: ReleasedLock): void {
    const queue = queues.get(keyOf(lock));
    // Ignore a release that was already seen.
    if (queue === undefined || queue.endedId === lock.id) return;
    queue.endedId = lock.id;
    queue.heldId = undefined;
    queue.mayNotify = true;
    void look(queue);
  }

  function onOthers(lock: ReleasedLock | undefined): void {
    if (lock !== undefined) released(lock);
    else for (const queue of queues.values()) void look(queue);
  }

  function queueFor({ workspace, path }: LockPlace): Queue {
    const key = keyOf({ workspace, path });
    const known = queues.get(key);
    if (known !== undefined) return known;
    const queue: Queue = {
      place: { workspace, path },
      waiters: new Set(),
      looking: false,
      lookAgain: false,
      mayNotify: true,
      idleOwner: undefined,
      heldId: undefined,
      endedId: undefined,
      cancelTimer: nothing,
    };
    queues.set(key, queue);
    return queue;
  }

  function join(request: WaitRequest, resolve: (outcome: WaitOutcome) => void): void {
    const { seconds, gone } = request;
    count(request, 1);
    const queue = queueFor(request);
    const leave = (): void => waiter.end('gone');
    const cancelTimeout = after(seconds * 1_000, () => waiter.end('timeout'));
    const waiter: Waiter = {
      request,
      end(outcome) {
        if (!queue.waiters.delete(waiter)) return;
        cancelTimeout();
        gone.removeEventListener('abort', leave);
        if (queue.waiters.size === 0) {
          queue.cancelTimer();
          queues.delete(keyOf(queue.place));
        }
        count(request, -1);
        resolve(outcome);
      },
    };
    queue.waiters.add(waiter);
    gone.addEventListener('abort', leave, { once: true });
    // Later clients share the lookup of the first one, and are notified of changes.
    if (queue.waiters.size === 1) void look(queue);
  }

  return {
    wait(request) {
      // Counts as a wait that has ended. A client that is refused one would never ask for another.
      if (stopped) return Promise.resolve('stopped');
      if (total >= maxWaiters || (ofToken.get(request.tokenId) ?? 0) >= maxWaitersOfToken) return undefined;
      return new Promise((resolve) => {
        if (request.gone.aborted) resolve('gone');
        else join(request, resolve);
      });
    },
    released,
    renewed(place) {
      const queue = queues.get(keyOf(place));
      if (queue !== undefined) void look(queue);
    },
    waiting: () =>
      [...queues.values()].flatMap(({ heldId, waiters }) =>
        heldId === undefined ? [] : [...waiters].map(({ request }) => request),
      ),
    stop() {
      stopped = true;
      for (const queue of [...queues.values()]) for (const waiter of [...queue.waiters]) waiter.end('stopped');
    },
  };
}

const nothing = (): void => undefined;
