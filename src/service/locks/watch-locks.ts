import type { Storage } from '../storage/storage.ts';
import { lockSignature } from './list.ts';

export interface LockWatchOptions {
  /** Interval of checks for changes by other instances and commands, and for expired locks. */
  readonly pollMs: number;
  readonly onError: (error: unknown) => void;
}

export interface LockWatch {
  /**
   * Yields at the start and after each change of the workspace's locks, until aborted. Rejects if the database fails.
   */
  follow(workspace: string, gone: AbortSignal): AsyncGenerator<void, void, undefined>;
  /** Must be called when locks may have changed. */
  wake(): void;
  stop(): Promise<void>;
}

/** Ratio of rest to work: limits the share of time for checks, however often wake() is called. */
const restPerWork = 4;
const shortestRestMs = 50;
const maxRestMs = 600;

type Follower = ReturnType<typeof createFollower>;

interface Watcher {
  readonly followers: Set<Follower>;
  /** Result of the last check. */
  signature: string | undefined;
  /** Ends the wait before the next check. */
  wake(): void;
  running: Promise<void>;
}

/** Keeps one watcher per followed workspace, so that the cost does not grow with the number of open pages. */
export function watchLocks(storage: Storage, { pollMs, onError }: LockWatchOptions): LockWatch {
  const watchers = new Map<string, Watcher>();

  async function look(watcher: Watcher, workspace: string): Promise<void> {
    const signature = await lockSignature(storage, workspace);
    if (signature === watcher.signature) return;
    watcher.signature = signature;
    for (const follower of watcher.followers) follower.notify();
  }

  async function run(watcher: Watcher, workspace: string): Promise<void> {
    try {
      while (watcher.followers.size > 0) {
        const woken = Promise.withResolvers<void>();
        watcher.wake = woken.resolve;
        const began = performance.now();
        await look(watcher, workspace);
        const rest = Math.min(Math.max((performance.now() - began) * restPerWork, shortestRestMs), maxRestMs);
        const timer = setTimeout(woken.resolve, pollMs);
        await Promise.all([woken.promise, new Promise((resolve) => setTimeout(resolve, rest))]);
        clearTimeout(timer);
      }
    } catch (error) {
      onError(error);
      const failure = new Error('The locks could not be read.', { cause: error });
      for (const follower of watcher.followers) follower.end(failure);
    } finally {
      watchers.delete(workspace);
    }
  }

  function watcherOf(workspace: string, first: Follower): Watcher {
    const known = watchers.get(workspace);
    if (known !== undefined) {
      known.followers.add(first);
      // Not before the first check: changes between the follower's own read and that check would be missed.
      if (known.signature !== undefined) first.notify();
      return known;
    }
    const watcher: Watcher = {
      followers: new Set([first]),
      signature: undefined,
      wake: () => undefined,
      running: Promise.resolve(),
    };
    watchers.set(workspace, watcher);
    watcher.running = run(watcher, workspace);
    return watcher;
  }

  return {
    async *follow(workspace, gone) {
      if (gone.aborted) return;
      const follower = createFollower();
      const watcher = watcherOf(workspace, follower);
      const leave = (): void => {
        follower.end();
        watcher.followers.delete(follower);
        if (watcher.followers.size === 0) watcher.wake();
      };
      gone.addEventListener('abort', leave, { once: true });
      try {
        while (await follower.next()) yield;
      } finally {
        gone.removeEventListener('abort', leave);
        leave();
      }
    },
    wake() {
      for (const watcher of watchers.values()) watcher.wake();
    },
    async stop() {
      const all = [...watchers.values()];
      for (const watcher of all) {
        for (const follower of watcher.followers) follower.end();
        watcher.followers.clear();
        watcher.wake();
      }
      await Promise.all(all.map(({ running }) => running));
    },
  };
}

/** Changes between two calls of `next` count once. */
function createFollower() {
  let isNotified = false;
  let ended: { readonly error: Error | undefined } | undefined;
  let something = Promise.withResolvers<void>();
  return {
    notify(): void {
      isNotified = true;
      something.resolve();
    },
    /** With an error, a pending `next` is rejected. */
    end(error?: Error): void {
      ended ??= { error };
      something.resolve();
    },
    /** False after the end. */
    async next(): Promise<boolean> {
      while (!isNotified && ended === undefined) {
        await something.promise;
        something = Promise.withResolvers<void>();
      }
      if (ended?.error !== undefined) throw ended.error;
      isNotified = false;
      return ended === undefined;
    },
  };
}
