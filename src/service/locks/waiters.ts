import { maxTimerMs } from '../../interface/timers.ts';
import type { LockPlace, StoredLock } from './find.ts';

export const maxWaitSeconds = 30;

/** Clients that wait for a locked path. */

export interface WaitRequest extends LockPlace {
  readonly tokenId: string;
  readonly owner: string;
  readonly origin: string | null;
  /** Whether its token may take locks. The others only watch: they have no place in line. */
  readonly mayTake: boolean;
  readonly seconds: number;
  /** Nobody is there any more to be answered. */
  readonly gone: AbortSignal;
}

/** `free`: the path was free a moment ago, and it is the turn of this one, or it only watches. */
export type WaitOutcome = 'free' | 'timeout' | 'gone' | 'stopped';

export interface ReleasedLock extends LockPlace {
  readonly id: string;
}

export interface LockWaiters {
  /** Undefined where too many wait already: then the answer comes at once. */
  wait(request: WaitRequest): Promise<WaitOutcome> | undefined;
  /** A lock was released, by anyone. */
  released(lock: ReleasedLock): void;
  /** A lock was renewed: it may end sooner than before. */
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
  /** Calls back with what other processes release, or with undefined when that may be anything; gives what ends that. */
  readonly watchOthers: (onChange: (lock: ReleasedLock | undefined) => void) => () => void;
  /** Does something later; gives what takes it back. */
  readonly after: (ms: number, work: () => void) => () => void;
  readonly onCount: (workspace: string, change: 1 | -1) => void;
  readonly onError: (error: unknown) => void;
}

/** Each waiter holds a connection and a few hundred bytes: neither memory nor open files are a concern. */
export const maxWaiters = 2_000;
/** One token cannot take all places. */
export const maxWaitersOfToken = 1_000;

/**
 * The time that a notified client has to take the path before the next one is notified: a round trip and a commit, for
 * which most need a tenth of it. A shorter time would make two run for the same path; a longer one delays everyone after a
 * client that does nothing.
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
  /** Something happened while the database was being asked. */
  lookAgain: boolean;
  /** False while a notified client may be about to take the path. */
  mayTell: boolean;
  /** Was notified, and let the grace period pass. */
  idleOwner: string | undefined;
  /** The lock that was last seen to hold the path, and the last that is known to be over. */
  heldId: string | undefined;
  endedId: string | undefined;
  /** For the end of the lock, or of the grace. */
  cancelTimer: () => void;
}

/**
 * A queue for each path that anybody waits for. The database is asked once when somebody comes first, and then once for
 * each thing that happens to the path, however many wait: nothing is asked of it while nothing happens.
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
    // Clients that still wait then are served once more.
    queue.cancelTimer = after(Math.min(ms, maxTimerMs), work);
  }

  function onFree(queue: Queue): void {
    if (queue.heldId !== undefined) {
      queue.endedId = queue.heldId;
      queue.heldId = undefined;
    }
    tellWatchers(queue);
    // Otherwise the grace period continues.
    if (!queue.mayTell) return;
    if (queue.idleOwner !== undefined) moveToEnd(queue, queue.idleOwner);
    queue.idleOwner = undefined;
    const [first] = queue.waiters;
    if (first === undefined) return;
    queue.mayTell = false;
    setTimer(queue, graceMs, () => {
      queue.mayTell = true;
      queue.idleOwner = first.request.owner;
      void look(queue);
    });
    first.end('free');
  }

  /** They cannot take the path, so nobody waits for them. */
  function tellWatchers({ waiters }: Queue): void {
    for (const waiter of [...waiters]) if (!waiter.request.mayTake) waiter.end('free');
  }

  /** An owner costs the others one grace, with however many requests. */
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
          queue.mayTell = true;
          queue.idleOwner = undefined;
          // The remaining time by the clock of the database; its time of day is not known here.
          setTimer(queue, found.remainingMs, () => void look(queue));
        } else onFree(queue);
      }
    } catch (error) {
      onError(error);
      queue.mayTell = true;
      if (queue.waiters.size > 0) setTimer(queue, lookAgainAfterErrorMs, () => void look(queue));
    } finally {
      queue.looking = false;
    }
  }

  function released(lock: ReleasedLock): void {
    const queue = queues.get(keyOf(lock));
    // An update that was seen already is dropped.
    if (queue === undefined || queue.endedId === lock.id) return;
    queue.endedId = lock.id;
    queue.heldId = undefined;
    queue.mayTell = true;
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
      mayTell: true,
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
    // Later clients share the result of the first, and are notified of changes.
    if (queue.waiters.size === 1) void look(queue);
  }

  return {
    wait(request) {
      // Reported as an ended wait: a client that is not offered one would never ask again.
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
