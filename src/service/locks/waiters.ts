import { maxTimerMs } from '../../interface/timers.ts';
import { type LinePath, requestGapMs } from './line.ts';

/** Clients whose requests wait at this instance: at their place in line, or, as watchers, until a path is free. */

export const maxWaitSeconds = 30;

export interface Wait extends LinePath {
  readonly tokenId: string;
  readonly ms: number;
  /** Aborted when the client has disconnected. */
  readonly gone: AbortSignal;
}

export interface PlacedWait extends Wait {
  readonly placeId: string;
  readonly requestId: string;
  /** The paths in whose lines the place is. */
  readonly paths: readonly string[];
  /** Whether one of these paths is enough, so that the client wants to learn of the first one that is free. */
  readonly any: boolean;
}

export type WaitOutcome =
  | { readonly kind: 'free' }
  /** The path is free, and the place is the first in line. */
  | { readonly kind: 'turn' }
  /** Another path is free, and the place is the first in its line. */
  | { readonly kind: 'turn-elsewhere'; readonly path: string }
  | { readonly kind: 'timeout' | 'gone' | 'stopped' };

type EndWait = (outcome: WaitOutcome) => void;

/** A path as it is in the database. */
export interface PathState {
  /** Milliseconds until the lock on it ends; undefined if it is free. */
  readonly remainingMs: number | undefined;
  /** The first place in line for which the others wait, and for how long at most. */
  readonly first: { readonly id: string; readonly presentMs: number } | undefined;
}

interface LockWaitersOptions {
  /** Rejected when the database does not answer. */
  readonly readPath: (line: LinePath) => Promise<PathState>;
  /** Calls back with each change by other processes, or undefined if any may have changed. Returns how to stop. */
  readonly watchOthers: (onChange: (line: LinePath | undefined) => void) => () => void;
  readonly onCount: (workspace: string, change: 1 | -1) => void;
  readonly onError: (error: unknown) => void;
}

/** Each waiter holds a connection and a few hundred bytes: neither memory nor open files are a concern. */
export const maxWaiters = 2_000;
/** Keeps a single token from taking all places. */
export const maxWaitersOfToken = 1_000;

const checkAgainAfterErrorMs = 1_000;

/** Clients of one path. Removed with the last of them. */
interface Line {
  readonly key: LinePath;
  readonly watchers: Set<EndWait>;
  /** Ends the wait of each place that waits here for this path, or for any of several that include it. */
  readonly members: Map<string, (path: string) => void>;
  isChecking: boolean;
  /** According to the last query. Later clients share it, and are notified of changes. */
  isHeld: boolean;
  /** The path may have changed during the current query. */
  checkAgain: boolean;
  /** The place that was last notified that it is its turn, so that it is notified once. */
  notified: string | undefined;
  timer: NodeJS.Timeout | undefined;
}

export type LockWaiters = ReturnType<typeof createLockWaiters>;

/**
 * Queries the database for the first client of a path, and then once per change of the path, however many clients wait.
 * There is no polling, except while a free path waits for a place at another instance, or for a client to become
 * present again.
 */
export function createLockWaiters({ readPath, watchOthers, onCount, onError }: LockWaitersOptions) {
  const lines = new Map<string, Line>();
  const waits = new Map<EndWait, Wait | PlacedWait>();
  let stopWatching = (): void => undefined;
  let stopped = false;

  const keyOf = ({ workspace, path }: LinePath): string => JSON.stringify([workspace, path]);

  function lineOf({ workspace, path }: LinePath): Line {
    const key = keyOf({ workspace, path });
    const known = lines.get(key);
    if (known !== undefined) return known;
    const line: Line = {
      key: { workspace, path },
      watchers: new Set(),
      members: new Map(),
      isChecking: false,
      isHeld: false,
      checkAgain: false,
      notified: undefined,
      timer: undefined,
    };
    lines.set(key, line);
    return line;
  }

  const isEmpty = ({ watchers, members }: Line): boolean => watchers.size + members.size === 0;

  function removeIfEmpty(line: Line): void {
    if (!isEmpty(line)) return;
    clearTimeout(line.timer);
    lines.delete(keyOf(line.key));
  }

  function scheduleCheck(line: Line, ms: number): void {
    clearTimeout(line.timer);
    // All may have left during the query.
    if (isEmpty(line)) return;
    // Capping the timer is safe: when it fires early, the path is looked up again.
    line.timer = setTimeout(check, Math.min(ms, maxTimerMs), line);
  }

  async function check(line: Line): Promise<void> {
    line.checkAgain = true;
    if (line.isChecking) return;
    line.isChecking = true;
    try {
      while (line.checkAgain && !isEmpty(line)) {
        line.checkAgain = false;
        decide(line, await readPath(line.key));
      }
    } catch (error) {
      onError(error);
      line.isHeld = false;
      scheduleCheck(line, checkAgainAfterErrorMs);
    } finally {
      line.isChecking = false;
    }
  }

  function decide(line: Line, { remainingMs, first }: PathState): void {
    line.isHeld = remainingMs !== undefined;
    if (remainingMs !== undefined) {
      line.notified = undefined;
      scheduleCheck(line, remainingMs);
      return;
    }
    for (const end of [...line.watchers]) end({ kind: 'free' });
    // Its client may be at another instance, or about to send its next request. If no client in line is present, one
    // that waits here may be: another of its requests may have ended its presence, which is renewed soon.
    scheduleCheck(line, Math.min(Math.max(first?.presentMs ?? requestGapMs, 1), requestGapMs));
    if (first === undefined || line.notified === first.id) return;
    line.notified = first.id;
    line.members.get(first.id)?.(line.key.path);
  }

  /** Must be called when the lock or the line of a path has changed; with undefined, when anything may have. */
  function changed(key: LinePath | undefined): void {
    for (const line of key === undefined ? [...lines.values()] : [lines.get(keyOf(key))]) if (line) void check(line);
  }

  /** Undefined if too many clients already wait: the response must then be sent at once. */
  function admit(wait: Wait | PlacedWait, begin: (end: EndWait) => () => void): Promise<WaitOutcome> | undefined {
    const { tokenId, workspace, ms, gone } = wait;
    // Counts as a wait that has ended. A client that is refused one would never ask for another.
    if (stopped) return Promise.resolve({ kind: 'stopped' });
    const own = waits.values().filter((other) => other.tokenId === tokenId);
    if (waits.size >= maxWaiters || [...own].length >= maxWaitersOfToken) return undefined;
    if (gone.aborted) return Promise.resolve({ kind: 'gone' });
    return new Promise((resolve) => {
      function end(outcome: WaitOutcome): void {
        if (!waits.delete(end)) return;
        if (waits.size === 0) stopWatching();
        clearTimeout(timer);
        gone.removeEventListener('abort', onGone);
        onCount(workspace, -1);
        leave();
        resolve(outcome);
      }
      const onGone = (): void => end({ kind: 'gone' });
      const timer = setTimeout(end, ms, { kind: 'timeout' });
      if (waits.size === 0) stopWatching = watchOthers(changed);
      waits.set(end, wait);
      onCount(workspace, 1);
      gone.addEventListener('abort', onGone, { once: true });
      const leave = begin(end);
    });
  }

  const places = () =>
    [...waits].flatMap(([end, wait]) => ('placeId' in wait ? [{ ...wait, giveWay: () => end({ kind: 'gone' }) }] : []));

  return {
    waitUntilFree: (wait: Wait) =>
      admit(wait, (end) => {
        const line = lineOf(wait);
        line.watchers.add(end);
        // A running query has the answer for later watchers, too.
        if (!line.isHeld && !line.isChecking) void check(line);
        return () => {
          line.watchers.delete(end);
          removeIfEmpty(line);
        };
      }),
    waitForTurn(wait: PlacedWait) {
      // A request that is sent again ends the wait of the earlier one: a proxy may hide that its client has gone.
      for (const [end, other] of waits) {
        if ('placeId' in other && other.placeId === wait.placeId) end({ kind: 'gone' });
      }
      return admit(wait, (end) => {
        const { placeId, workspace, path, any } = wait;
        function onTurn(free: string): void {
          if (free === path) end({ kind: 'turn' });
          else if (any) end({ kind: 'turn-elsewhere', path: free });
        }
        const wanted = any ? new Set([path, ...wait.paths]) : [path];
        const all = Array.from(wanted, (each) => lineOf({ workspace, path: each }));
        for (const line of all) {
          line.members.set(placeId, onTurn);
          if (line.key.path === path && line.notified === placeId) line.notified = undefined;
          if (!line.isHeld) void check(line);
        }
        return () => {
          for (const line of all) {
            if (line.members.get(placeId) === onTurn) line.members.delete(placeId);
            removeIfEmpty(line);
          }
        };
      });
    },
    changed,
    places,
    stop() {
      stopped = true;
      for (const end of [...waits.keys()]) end({ kind: 'stopped' });
    },
  };
}
