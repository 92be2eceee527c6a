import { maxTimerMs } from '../../interface/timers.ts';
import { betweenRequestsMs, type LinePath } from './line.ts';

/** Clients whose requests wait at this instance: at their place in line, or, as watchers, until a path is free. */

export const maxWaitSeconds = 30;

interface Wait extends LinePath {
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

export interface PlaceHere extends Pick<PlacedWait, 'workspace' | 'placeId' | 'requestId'> {
  /** Ends the wait of a request that is sent again: a proxy may hide that its client has disconnected. */
  readonly giveWay: () => void;
}

/** `free`: the path was just free. */
export type WatchOutcome = 'free' | 'timeout' | 'gone' | 'stopped';

export type PlacedOutcome =
  /** The path is free, and the place is the first in line. */
  | { readonly kind: 'turn' }
  /** Another path is free, and the place is the first in its line. */
  | { readonly kind: 'turn-elsewhere'; readonly path: string }
  | { readonly kind: 'timeout' | 'gone' | 'stopped' };

/** A path as it is in the database. */
export interface PathState {
  /** Milliseconds until the lock on it ends; undefined if it is free. */
  readonly remainingMs: number | undefined;
  /** The first place in line for which the others wait, and for how long at most. */
  readonly first: { readonly id: string; readonly presentMs: number } | undefined;
}

export interface LockWaiters {
  /** Undefined if too many clients already wait: the response must then be sent at once. */
  waitForTurn(wait: PlacedWait): Promise<PlacedOutcome> | undefined;
  watch(wait: Wait): Promise<WatchOutcome> | undefined;
  /** Must be called when the lock or the line of a path has changed; with undefined, when anything may have. */
  changed(place: LinePath | undefined): void;
  /** All places that wait here. */
  places(): readonly PlaceHere[];
  stop(): void;
}

export interface LockWaitersOptions {
  /** Rejected when the database does not answer. */
  readonly look: (place: LinePath) => Promise<PathState>;
  /**
   * Calls back with each change of a lock or line by other processes, or with undefined if any may have changed.
   * Returns how to stop.
   */
  readonly watchOthers: (onChange: (place: LinePath | undefined) => void) => () => void;
  /** Schedules work. Returns a function that cancels it. */
  readonly after: (ms: number, work: () => void) => () => void;
  readonly onCount: (workspace: string, change: 1 | -1) => void;
  readonly onError: (error: unknown) => void;
}

/** Each waiter holds a connection and a few hundred bytes: neither memory nor open files are a concern. */
export const maxWaiters = 2_000;
/** Keeps a single token from taking all places. */
export const maxWaitersOfToken = 1_000;

const lookAgainAfterErrorMs = 1_000;

/** Clients of one path. Removed with the last of them. */
interface Line {
  readonly place: LinePath;
  readonly watchers: Set<(outcome: 'free') => void>;
  /** Ends the wait of each place that is in this line and waits here, for this path or for another one. */
  readonly members: Map<string, (path: string) => void>;
  looking: boolean;
  /** According to the last query. Later clients share it, and are notified of changes. */
  isHeld: boolean;
  /** The path may have changed during the current query. */
  lookAgain: boolean;
  /** The place that was last notified that it is its turn, so that it is notified once. */
  notified: string | undefined;
  cancelTimer: () => void;
}

/**
 * Queries the database for the first client of a path, and then once per change of the path, however many clients wait.
 * There is no polling, except while a free path waits for a place at another instance.
 */
export function createLockWaiters({
  look: query,
  watchOthers,
  after,
  onCount,
  onError,
}: LockWaitersOptions): LockWaiters {
  const lines = new Map<string, Line>();
  const ofToken = new Map<string, number>();
  const waiting = new Map<string, PlaceHere>();
  const waits = new Set<(outcome: 'stopped') => void>();
  let stopWatching = (): void => undefined;
  let stopped = false;

  const keyOf = ({ workspace, path }: LinePath): string => JSON.stringify([workspace, path]);

  function lineOf({ workspace, path }: LinePath): Line {
    const key = keyOf({ workspace, path });
    const known = lines.get(key);
    if (known !== undefined) return known;
    const line: Line = {
      place: { workspace, path },
      watchers: new Set(),
      members: new Map(),
      looking: false,
      isHeld: false,
      lookAgain: false,
      notified: undefined,
      cancelTimer: () => undefined,
    };
    lines.set(key, line);
    return line;
  }

  const isEmpty = ({ watchers, members }: Line): boolean => watchers.size + members.size === 0;

  function removeIfEmpty(line: Line): void {
    if (!isEmpty(line)) return;
    line.cancelTimer();
    lines.delete(keyOf(line.place));
  }

  function lookIn(line: Line, ms: number): void {
    line.cancelTimer();
    // Capping the timer is safe: when it fires early, the path is looked up again.
    line.cancelTimer = after(Math.min(ms, maxTimerMs), () => void look(line));
  }

  async function look(line: Line): Promise<void> {
    line.lookAgain = true;
    if (line.looking) return;
    line.looking = true;
    try {
      while (line.lookAgain && !isEmpty(line)) {
        line.lookAgain = false;
        decide(line, await query(line.place));
      }
    } catch (error) {
      onError(error);
      line.isHeld = false;
      if (!isEmpty(line)) lookIn(line, lookAgainAfterErrorMs);
    } finally {
      line.looking = false;
    }
  }

  function decide(line: Line, { remainingMs, first }: PathState): void {
    line.isHeld = remainingMs !== undefined;
    if (remainingMs !== undefined) {
      line.notified = undefined;
      lookIn(line, remainingMs);
      return;
    }
    for (const end of [...line.watchers]) end('free');
    if (first === undefined || isEmpty(line)) return;
    // Its client may be at another instance, or about to send its next request.
    lookIn(line, Math.min(Math.max(first.presentMs, 1), betweenRequestsMs));
    if (line.notified === first.id) return;
    line.notified = first.id;
    line.members.get(first.id)?.(line.place.path);
  }

  function knownLine(place: LinePath): readonly Line[] {
    const line = lines.get(keyOf(place));
    return line === undefined ? [] : [line];
  }

  function changed(place: LinePath | undefined): void {
    for (const line of place === undefined ? [...lines.values()] : knownLine(place)) void look(line);
  }

  /** Undefined if too many clients already wait. */
  function admit<Outcome>(
    { tokenId, workspace, ms, gone }: Wait,
    on: Readonly<Record<'timeout' | 'gone' | 'stopped', Outcome>>,
    begin: (end: (outcome: Outcome) => void) => () => void,
  ): Promise<Outcome> | undefined {
    // Counts as a wait that has ended. A client that is refused one would never ask for another.
    if (stopped) return Promise.resolve(on.stopped);
    const own = ofToken.get(tokenId) ?? 0;
    if (waits.size >= maxWaiters || own >= maxWaitersOfToken) return undefined;
    if (gone.aborted) return Promise.resolve(on.gone);
    return new Promise((resolve) => {
      let leave: () => void = () => undefined;
      const end = (outcome: Outcome): void => {
        if (!waits.delete(stop)) return;
        if (waits.size === 0) stopWatching();
        cancelTimeout();
        gone.removeEventListener('abort', onGone);
        const left = (ofToken.get(tokenId) ?? 1) - 1;
        if (left === 0) ofToken.delete(tokenId);
        else ofToken.set(tokenId, left);
        onCount(workspace, -1);
        leave();
        resolve(outcome);
      };
      const stop = (): void => end(on.stopped);
      const onGone = (): void => end(on.gone);
      const cancelTimeout = after(ms, () => end(on.timeout));
      if (waits.size === 0) stopWatching = watchOthers(changed);
      waits.add(stop);
      ofToken.set(tokenId, own + 1);
      onCount(workspace, 1);
      gone.addEventListener('abort', onGone, { once: true });
      leave = begin(end);
    });
  }

  return {
    watch(wait) {
      return admit<WatchOutcome>(wait, { timeout: 'timeout', gone: 'gone', stopped: 'stopped' }, (end) => {
        const line = lineOf(wait);
        line.watchers.add(end);
        // A running query has the answer for later watchers, too.
        if (!line.isHeld && !line.looking) void look(line);
        return () => {
          line.watchers.delete(end);
          removeIfEmpty(line);
        };
      });
    },
    waitForTurn(wait) {
      const outcomes = {
        timeout: { kind: 'timeout' },
        gone: { kind: 'gone' },
        stopped: { kind: 'stopped' },
      } as const;
      waiting.get(wait.placeId)?.giveWay();
      return admit<PlacedOutcome>(wait, outcomes, (end) => {
        const { placeId, requestId, workspace, path, any } = wait;
        function onTurn(free: string): void {
          if (free === path) end({ kind: 'turn' });
          else if (any) end({ kind: 'turn-elsewhere', path: free });
        }
        const here = { workspace, placeId, requestId, giveWay: () => end({ kind: 'gone' }) };
        waiting.set(placeId, here);
        const all = [...new Set([path, ...wait.paths])].map((each) => lineOf({ workspace, path: each }));
        for (const line of all) {
          line.members.set(placeId, onTurn);
          if (line.place.path === path && line.notified === placeId) line.notified = undefined;
          if (!line.isHeld) void look(line);
        }
        return () => {
          if (waiting.get(placeId) === here) waiting.delete(placeId);
          for (const line of all) {
            if (line.members.get(placeId) === onTurn) line.members.delete(placeId);
            removeIfEmpty(line);
          }
        };
      });
    },
    changed,
    places: () => [...waiting.values()],
    stop() {
      stopped = true;
      for (const stop of [...waits]) stop('stopped');
    },
  };
}
