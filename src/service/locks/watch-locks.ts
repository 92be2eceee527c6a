import { setTimeout as sleep } from 'node:timers/promises';
import type { Storage } from '../storage/storage.ts';
import { lockSignature } from './list.ts';

interface LockWatchOptions {
  /** Interval of checks for changes by other instances and commands, and for expired locks. */
  readonly pollMs: number;
  readonly onError: (error: unknown) => void;
}

/** Ratio of rest to work: limits the share of time for checks, however often wake() is called. */
const restPerWork = 4;
const shortestRestMs = 50;
const maxRestMs = 600;

interface Watch {
  readonly followers: Set<object>;
  result: string | Error | undefined;
}

/** Checks all followed workspaces in one loop, so that the cost does not grow with the number of open pages. */
export function watchLocks(storage: Storage, { pollMs, onError }: LockWatchOptions) {
  const watches = new Map<string, Watch>();
  /** Fulfilled when followers must look at their watch. */
  let changed = Promise.withResolvers<void>();
  let woken = Promise.withResolvers<void>();
  let running: Promise<void> | undefined;

  function notify(): void {
    changed.resolve();
    changed = Promise.withResolvers();
  }

  async function check([workspace, watch]: readonly [string, Watch]): Promise<void> {
    const result = await lockSignature(storage, workspace).catch((error: unknown) => {
      onError(error);
      return new Error('The locks could not be read.', { cause: error });
    });
    if (result === watch.result) return;
    watch.result = result;
    notify();
  }

  async function run(): Promise<void> {
    while (watches.size > 0) {
      woken = Promise.withResolvers();
      const startedAt = performance.now();
      await Promise.all(Array.from(watches, check));
      const rest = Math.min(Math.max((performance.now() - startedAt) * restPerWork, shortestRestMs), maxRestMs);
      const timer = setTimeout(woken.resolve, pollMs);
      await Promise.all([woken.promise, sleep(rest)]);
      clearTimeout(timer);
    }
    running = undefined;
  }

  return {
    /** Yields at the start and after each change of the locks, until aborted. Rejects if the database fails. */
    async *follow(workspace: string, gone: AbortSignal): AsyncGenerator<void, void, undefined> {
      if (gone.aborted) return;
      const follower = {};
      const watch = watches.get(workspace) ?? { followers: new Set(), result: undefined };
      const leave = (): void => {
        if (watch.followers.delete(follower) && watch.followers.size === 0) watches.delete(workspace);
        notify();
      };
      gone.addEventListener('abort', leave, { once: true });
      watches.set(workspace, watch);
      watch.followers.add(follower);
      woken.resolve();
      running ??= run();
      try {
        for (let seen: string | undefined; watch.followers.has(follower); ) {
          const { result } = watch;
          if (result instanceof Error) throw result;
          if (result === seen) await changed.promise;
          else {
            seen = result;
            yield;
          }
        }
      } finally {
        gone.removeEventListener('abort', leave);
        leave();
      }
    },
    /** Must be called when locks may have changed. */
    wake: (): void => woken.resolve(),
    async stop(): Promise<void> {
      for (const { followers } of watches.values()) followers.clear();
      watches.clear();
      notify();
      woken.resolve();
      await running;
    },
  };
}
