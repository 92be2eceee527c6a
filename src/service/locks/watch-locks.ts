import { setTimeout as sleep } from 'node:timers/promises';
import type { Storage } from '../storage/storage.ts';
import { lockSignature } from './list.ts';

export interface LockWatchOptions {
  /** Interval of checks for changes by other instances and commands, and for expired locks. */
  readonly pollMs: number;
  readonly onError: (error: unknown) => void;
}

/** Ratio of rest to work: limits the share of time for checks, however often wake() is called. */
const restPerWork = 4;
const shortestRestMs = 50;
const maxRestMs = 600;

interface Watcher {
  readonly followers: Set<object>;
  /** Result of the last check; undefined before the first one. */
  signature: string | undefined;
  failure: Error | undefined;
  /** Fulfilled when followers must look at the properties above. */
  changed: PromiseWithResolvers<void>;
  /** Ends the wait before the next check. */
  wake(): void;
  running: Promise<void>;
}

/** Keeps one watcher per followed workspace, so that the cost does not grow with the number of open pages. */
export function watchLocks(storage: Storage, { pollMs, onError }: LockWatchOptions) {
  const watchers = new Map<string, Watcher>();

  function notify(watcher: Watcher): void {
    watcher.changed.resolve();
    watcher.changed = Promise.withResolvers();
    if (watcher.followers.size === 0) watcher.wake();
  }

  async function run(watcher: Watcher, workspace: string): Promise<void> {
    try {
      while (watcher.followers.size > 0) {
        const woken = Promise.withResolvers<void>();
        watcher.wake = woken.resolve;
        const began = performance.now();
        const signature = await lockSignature(storage, workspace);
        if (signature !== watcher.signature) {
          watcher.signature = signature;
          notify(watcher);
        }
        const rest = Math.min(Math.max((performance.now() - began) * restPerWork, shortestRestMs), maxRestMs);
        const timer = setTimeout(woken.resolve, pollMs);
        await Promise.all([woken.promise, sleep(rest)]);
        clearTimeout(timer);
      }
    } catch (error) {
      onError(error);
      watcher.failure = new Error('The locks could not be read.', { cause: error });
      notify(watcher);
    } finally {
      watchers.delete(workspace);
    }
  }

  function startWatcher(workspace: string, follower: object): Watcher {
    const watcher: Watcher = {
      followers: new Set([follower]),
      signature: undefined,
      failure: undefined,
      changed: Promise.withResolvers(),
      wake: () => undefined,
      running: Promise.resolve(),
    };
    watchers.set(workspace, watcher);
    watcher.running = run(watcher, workspace);
    return watcher;
  }

  return {
    /**
     * Yields at the start and after each change of the workspace's locks, until aborted. Rejects if the database fails.
     */
    async *follow(workspace: string, gone: AbortSignal): AsyncGenerator<void, void, undefined> {
      if (gone.aborted) return;
      const follower = {};
      const watcher = watchers.get(workspace) ?? startWatcher(workspace, follower);
      watcher.followers.add(follower);
      const leave = (): void => {
        watcher.followers.delete(follower);
        notify(watcher);
      };
      gone.addEventListener('abort', leave, { once: true });
      try {
        for (let seen: string | undefined; watcher.followers.has(follower); ) {
          if (watcher.failure !== undefined) throw watcher.failure;
          if (watcher.signature === seen) await watcher.changed.promise;
          else {
            seen = watcher.signature;
            yield;
          }
        }
      } finally {
        gone.removeEventListener('abort', leave);
        leave();
      }
    },
    /** Must be called when locks may have changed. */
    wake(): void {
      for (const watcher of watchers.values()) watcher.wake();
    },
    async stop(): Promise<void> {
      const all = [...watchers.values()];
      for (const watcher of all) {
        watcher.followers.clear();
        notify(watcher);
      }
      await Promise.all(all.map(({ running }) => running));
    },
  };
}
