import { maxTimerMs } from '../../interface/timers.ts';
import { type LockKey, nameOf } from './find.ts';
import type { readPath } from './kept-paths.ts';

/** The clients that wait at this instance, and the changes that end their waits. */

export interface Wait {
  readonly id: string;
  readonly workspace: string;
  readonly owner: string;
  readonly ms: number;
  readonly gone: AbortSignal;
  readonly watched: readonly WatchedPath[];
}

export interface WatchedPath {
  readonly path: string;
  /** Whether to end the wait if the path is free and kept for this lease (undefined: for none). */
  readonly isTurn: (next: PathState['next']) => boolean;
}

/** `turn`: the request can be tried again. */
type WaitOutcome = 'turn' | 'timeout' | 'gone' | 'stopped';

interface Waiter extends Wait {
  readonly end: (outcome: WaitOutcome) => void;
}

type PathState = Awaited<ReturnType<typeof readPath>>;

interface LockWaitersOptions {
  /** Rejects if the database does not respond. */
  readonly readPath: (line: LockKey) => Promise<PathState>;
  /** Calls back for each change by other processes; undefined: any path may have changed. Returns a stop function. */
  readonly watchOthers: (onChange: (line: string | undefined) => void) => () => void;
  readonly onCount: (workspace: string, change: 1 | -1) => void;
  readonly onError: (error: unknown) => void;
}

/** Each waiter costs a connection and a few hundred bytes, so neither memory nor open files are a concern. */
export const maxWaiters = 2_000;
/** Keeps one owner from taking all places. */
export const maxWaitersOfOwner = maxWaiters / 2;

const checkAgainAfterErrorMs = 1_000;

/** A lease that wants any items of a pool may watch thousands of paths. */
const maxLookedUp = 1_000;

/** Removed with its last member. */
interface Line {
  readonly key: LockKey;
  readonly members: Map<Waiter, WatchedPath['isTurn']>;
  isChecking: boolean;
  /** The path may have changed during the current query. */
  checkAgain: boolean;
  timer: NodeJS.Timeout | undefined;
}

export type LockWaiters = ReturnType<typeof createLockWaiters>;

const newLine = (key: LockKey): Line => ({
  key,
  members: new Map(),
  isChecking: false,
  checkAgain: false,
  timer: undefined,
});

/**
 * Queries the database once for all clients of a path that arrive together, and once per change of the path. It polls
 * only while a free path is kept for a client at another instance, or for one that may become present again.
 */
function createLines({ readPath, onError }: Pick<LockWaitersOptions, 'readPath' | 'onError'>) {
  const lines = new Map<string, Line>();

  function scheduleCheck(line: Line, ms: number): void {
    clearTimeout(line.timer);
    // All clients may have left during the query.
    if (line.members.size === 0) return;
    // Capping the timer is safe: if it fires early, the path is looked up again.
    line.timer = setTimeout(check, Math.min(ms, maxTimerMs), line);
  }

  async function check(line: Line): Promise<void> {
    line.checkAgain = true;
    if (line.isChecking) return;
    line.isChecking = true;
    try {
      while (line.checkAgain && line.members.size > 0) {
        line.checkAgain = false;
        const { isFree, next, lookAgainMs } = await readPath(line.key);
        for (const [{ end }, isTurn] of [...line.members]) if (isFree && isTurn(next)) end('turn');
        scheduleCheck(line, lookAgainMs);
      }
    } catch (error) {
      onError(error);
      scheduleCheck(line, checkAgainAfterErrorMs);
    } finally {
      line.isChecking = false;
    }
  }

  return {
    join(waiter: Waiter, key: LockKey, isTurn: WatchedPath['isTurn']): Line {
      const line = lines.get(nameOf(key)) ?? newLine(key);
      lines.set(nameOf(key), line);
      line.members.set(waiter, isTurn);
      void check(line);
      return line;
    },
    leave(waiter: Waiter, line: Line): void {
      line.members.delete(waiter);
      if (line.members.size > 0) return;
      clearTimeout(line.timer);
      lines.delete(nameOf(line.key));
    },
    /** Must be called with the name of each line that changed, or whose lock changed; with undefined if any may have. */
    changed(name: string | undefined): void {
      for (const line of name === undefined ? [...lines.values()] : [lines.get(name)]) if (line) void check(line);
    },
    /** Looks lines up without a change, all of them in turn. */
    lookUp(): void {
      for (const [name, line] of [...lines].slice(0, maxLookedUp)) {
        lines.delete(name);
        lines.set(name, line);
        void check(line);
      }
    },
  };
}

export function createLockWaiters({ watchOthers, onCount, ...options }: LockWaitersOptions) {
  const { join, leave, changed, lookUp } = createLines(options);
  const waits = new Map<string, Waiter>();
  let stopWatching = (): void => undefined;
  let stopped = false;

  /** Undefined if too many clients are waiting: the request must then be answered at once. */
  function wait(request: Wait): Promise<WaitOutcome> | undefined {
    const { id, owner, workspace, ms, gone, watched } = request;
    // A repeated request ends the wait of the earlier one: its client may have disconnected unnoticed behind a proxy.
    waits.get(id)?.end('gone');
    // Reported as a wait that was ended, because a client that is refused a wait would never ask for one again.
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
        for (const line of joined) leave(waiter, line);
        resolve(outcome);
      }
      const waiter = { ...request, end };
      const onGone = (): void => end('gone');
      const timer = setTimeout(end, ms, 'timeout');
      if (waits.size === 0) stopWatching = watchOthers(changed);
      waits.set(id, waiter);
      onCount(workspace, 1);
      gone.addEventListener('abort', onGone, { once: true });
      const joined = watched.map(({ path, isTurn }) => join(waiter, { workspace, path }, isTurn));
    });
  }

  return {
    wait,
    changed,
    lookUp,
    /** The request can be tried again. */
    wake: (id: string) => waits.get(id)?.end('turn'),
    stop() {
      stopped = true;
      for (const { end } of [...waits.values()]) end('stopped');
    },
  };
}
