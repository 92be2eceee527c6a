import { randomUUID } from 'node:crypto';
import type { QueuePosition } from '../../interface/problem.ts';
import { maxTimerMs } from '../../interface/timers.ts';
import type { Storage } from '../storage/storage.ts';
import { type LockKey, nameOf } from './find.ts';
import { placeInLine } from './queue.ts';
import { presenceMs, requestGapMs } from './wait-terms.ts';
import { extendPresence } from './waits.ts';

/** Requests that wait at this instance: at their place in line, or, without one, until a path is free. */

/** Tells the waiting clients of all instances that locks on these paths, or their lines, have changed. */
export type OnChange = (workspace: string, paths: readonly string[]) => void;

/** How a client waits (RFC 7240, `Prefer: wait`). */
export interface WaitOptions {
  /** 0: the request gets a place in line, and an immediate response. */
  readonly seconds: number;
  readonly urgency: number;
  /** Aborted when the client has disconnected: it gets no lock. */
  readonly gone: AbortSignal;
  /** Rejects if the client has lost its permission meanwhile. */
  readonly authenticate: () => Promise<unknown>;
}

/** The place of a request in line. */
export interface Place extends Pick<WaitOptions, 'urgency' | 'gone'> {
  readonly requestId: string;
  /** Whether the request has not been in line yet. Afterwards, it is decided only if it is the newest of its client. */
  readonly isFirst: boolean;
  readonly presentMs: number;
}

/** If it has watched paths, it may change when one of them does. */
interface Decision {
  readonly kind: string;
  readonly watched?: readonly WatchedPath[];
}

export type Waited<Decided> = Decided & {
  /** The preferred wait, if it was applied. */
  readonly waitedSeconds?: number | undefined;
  /** The place of a request that is still in line. */
  readonly queue?: QueuePosition | undefined;
};

interface WaitInLineOptions extends Pick<LockWaitersOptions, 'onError'> {
  readonly storage: Pick<Storage, 'commit' | 'batchCommits' | 'read' | 'now'>;
  readonly waiters: LockWaiters;
}

export type WaitInLine = ReturnType<typeof createWaitInLine>;

export function createWaitInLine({ storage, waiters, onError }: WaitInLineOptions) {
  const { now } = storage;

  /** Attempts once, or with options again at each turn of the client, until a decision stands or the wait ends. */
  async function acquire<Decided extends Decision>(
    client: Pick<Wait, 'id' | 'workspace' | 'owner'>,
    options: WaitOptions | undefined,
    attempt: (place?: Place) => Promise<Decided>,
  ): Promise<Waited<Decided>> {
    if (options === undefined) return attempt();
    const { seconds, urgency, gone, authenticate } = options;
    const deadline = performance.now() + seconds * 1_000;
    const requestId = randomUUID();
    const place = { requestId, urgency, gone, presentMs: seconds > 0 ? presenceMs : requestGapMs };
    // The others look again within requestGapMs, even at a path that was kept for this client: see lookAgainMs().
    const leave = (presentMs: number) => leaveAll({ ...client, requestId, presentMs }).catch(onError);
    let last = await attempt({ ...place, isFirst: true });
    // It may have disconnected after it had joined the line.
    if (last.kind === 'refused' && gone.aborted) await leave(0);
    let waitedSeconds: number | undefined = seconds;
    while (last.watched !== undefined && seconds > 0) {
      const { watched } = last;
      const ms = Math.max(0, deadline - performance.now());
      const outcome = await waiters.wait({ ...client, requestId, gone, ms, watched });
      // Too many clients wait already: without the header, the client knows that nobody waited.
      if (outcome === undefined) waitedSeconds = undefined;
      if (outcome !== 'turn') {
        // When this instance stops, the client asks another one.
        if (outcome !== 'stopped') await leave(outcome === 'gone' ? 0 : requestGapMs);
        break;
      }
      try {
        await authenticate();
        last = await attempt({ ...place, isFirst: false });
      } catch (error) {
        await leave(0);
        throw error;
      }
      // Others must not wait for a client whose request is refused.
      if (last.watched === undefined && last.kind !== 'granted') await leave(0);
    }
    const queue = last.watched && (await placeInLine(storage, client.id));
    return { ...last, waitedSeconds, queue };
  }

  /** The waits of a thousand clients may end at the same time. */
  const leaveAll = storage.batchCommits(
    ({ workspace }: Pick<Wait, 'id' | 'workspace' | 'requestId'> & Pick<Place, 'presentMs'>) => ({ workspace }),
    async (db, leaving) => {
      await extendPresence(db, now, leaving);
      return leaving.map(() => undefined);
    },
  );

  /** Workspaces whose clients are being kept present. */
  const running = new Set<string>();

  /** Called periodically: others wait for the clients that wait here. A blocked workspace does not delay the others. */
  async function keepPresent(): Promise<void> {
    const byWorkspace = [...Map.groupBy(waiters.placed(), (client) => client.workspace)];
    const due = byWorkspace.filter(([workspace]) => !running.has(workspace));
    await Promise.all(
      due.map(async ([workspace, clients]) => {
        running.add(workspace);
        try {
          const present = clients.map(({ id, requestId }) => ({ id, requestId, presentMs: presenceMs }));
          const kept = await storage.commit({ workspace }, (db) => extendPresence(db, now, present));
          const newest = new Set<string | undefined>(kept.map(({ requestId }) => requestId));
          // It was granted or ended elsewhere, or asked for again: the next attempt tells.
          for (const { requestId, end } of clients) if (!newest.has(requestId)) end('turn');
        } catch (error) {
          onError(error);
        } finally {
          running.delete(workspace);
        }
      }),
    );
  }

  return { acquire, keepPresent };
}

export interface Wait {
  readonly id: string;
  /** Undefined for a client without a place in line. */
  readonly requestId?: string;
  readonly workspace: string;
  readonly owner: string;
  readonly ms: number;
  readonly gone: AbortSignal;
  readonly watched: readonly WatchedPath[];
}

export interface WatchedPath {
  readonly path: string;
  /** Whether the wait ends if no lock is on the path, and the path is kept for this lease, if for any. */
  readonly isTurn: (next: string | undefined) => boolean;
}

/** `turn`: it may be granted now. */
type WaitOutcome = 'turn' | 'timeout' | 'gone' | 'stopped';

interface Waiter extends Wait {
  readonly end: (outcome: WaitOutcome) => void;
}

/** A path as it is in the database. */
export interface PathState {
  readonly isFree: boolean;
  /** The lease that the free path is kept for. */
  readonly next: string | undefined;
  /** When it must be looked up again, if nothing changes. */
  readonly lookAgainMs: number;
}

interface LockWaitersOptions {
  /** Rejected when the database does not answer. */
  readonly readPath: (line: LockKey) => Promise<PathState>;
  /** Calls back with each change by other processes, or undefined if any may have changed. Returns how to stop. */
  readonly watchOthers: (onChange: (line: string | undefined) => void) => () => void;
  readonly onCount: (workspace: string, change: 1 | -1) => void;
  readonly onError: (error: unknown) => void;
}

/** Each waiter holds a connection and a few hundred bytes: neither memory nor open files are a concern. */
export const maxWaiters = 2_000;
/** Keeps a single owner from taking all places. */
export const maxWaitersOfOwner = maxWaiters / 2;

const checkAgainAfterErrorMs = 1_000;

/** Removed with the last of its members. */
interface Line {
  readonly key: LockKey;
  readonly members: Map<Waiter, WatchedPath['isTurn']>;
  isChecking: boolean;
  /** The path may have changed during the current query. */
  checkAgain: boolean;
  timer: NodeJS.Timeout | undefined;
}

export type LockWaiters = ReturnType<typeof createLockWaiters>;

/**
 * Queries the database for clients of a path that arrive together, and then once per change of the path, for all of them.
 * There is no polling, except while a free path is kept for a client at another instance, or for one that may become
 * present again.
 */
export function createLockWaiters({ readPath, watchOthers, onCount, onError }: LockWaitersOptions) {
  const lines = new Map<string, Line>();
  const waits = new Map<string, Waiter>();
  let stopWatching = (): void => undefined;
  let stopped = false;

  function lineOf(key: LockKey): Line {
    const none = { key, members: new Map(), isChecking: false, checkAgain: false, timer: undefined };
    const line = lines.get(nameOf(key)) ?? none;
    lines.set(nameOf(key), line);
    return line;
  }

  function scheduleCheck(line: Line, ms: number): void {
    clearTimeout(line.timer);
    // All may have left during the query.
    if (line.members.size === 0) return;
    // Capping the timer is safe: when it fires early, the path is looked up again.
    line.timer = setTimeout(check, Math.min(ms, maxTimerMs), line);
  }

  async function check(line: Line): Promise<void> {
    line.checkAgain = true;
    if (line.isChecking) return;
    line.isChecking = true;
    try {
      while (line.checkAgain && line.members.size > 0) {
        line.checkAgain = false;
        wake(line, await readPath(line.key));
      }
    } catch (error) {
      onError(error);
      scheduleCheck(line, checkAgainAfterErrorMs);
    } finally {
      line.isChecking = false;
    }
  }

  function wake(line: Line, { isFree, next, lookAgainMs }: PathState): void {
    for (const [{ end }, isTurn] of [...line.members]) if (isFree && isTurn(next)) end('turn');
    scheduleCheck(line, lookAgainMs);
  }

  /** Must be called with the name of a line when it or the lock has changed; with undefined, when anything may have. */
  function changed(name: string | undefined): void {
    for (const line of name === undefined ? [...lines.values()] : [lines.get(name)]) if (line) void check(line);
  }

  /** Undefined if too many clients already wait: the response must then be sent at once. */
  function wait(request: Wait): Promise<WaitOutcome> | undefined {
    const { id, owner, workspace, ms, gone, watched } = request;
    // A request that is sent again ends the wait of the earlier one: a proxy may hide that its client has gone.
    waits.get(id)?.end('gone');
    // Counts as a wait that has ended. A client that is refused one would never ask for another.
    if (stopped) return Promise.resolve('stopped');
    const own = [...waits.values()].filter((other) => other.owner === owner);
    if (waits.size >= maxWaiters || own.length >= maxWaitersOfOwner) return undefined;
    if (gone.aborted) return Promise.resolve('gone');
    return new Promise((resolve) => {
      function end(outcome: WaitOutcome): void {
        if (waits.get(id) !== waiter) return;
        waits.delete(id);
        if (waits.size === 0) stopWatching();
        clearTimeout(timer);
        gone.removeEventListener('abort', onGone);
        onCount(workspace, -1);
        for (const line of joined) {
          line.members.delete(waiter);
          if (line.members.size > 0) continue;
          clearTimeout(line.timer);
          lines.delete(nameOf(line.key));
        }
        resolve(outcome);
      }
      const waiter = { ...request, end };
      const onGone = (): void => end('gone');
      const timer = setTimeout(end, ms, 'timeout');
      if (waits.size === 0) stopWatching = watchOthers(changed);
      waits.set(id, waiter);
      onCount(workspace, 1);
      gone.addEventListener('abort', onGone, { once: true });
      const joined = watched.map(({ path, isTurn }) => {
        const line = lineOf({ workspace, path });
        line.members.set(waiter, isTurn);
        void check(line);
        return line;
      });
    });
  }

  return {
    wait,
    /** The waits with a place in line. */
    placed: () => [...waits.values()].filter(({ requestId }) => requestId !== undefined),
    changed,
    stop() {
      stopped = true;
      for (const { end } of [...waits.values()]) end('stopped');
    },
  };
}
