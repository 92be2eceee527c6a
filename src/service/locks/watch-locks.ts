import { setTimeout as sleep, setImmediate as yieldToEventLoop } from 'node:timers/promises';

interface LockWatchOptions {
  /** Interval of checks for changes by other instances and commands, and for expired locks. */
  readonly pollMs: number;
  readonly onError: (error: unknown) => void;
}

/** Ratio of rest to work: limits the share of time for checks, however often wake() is called. */
const restPerWork = 4;
const shortestRestMs = 200;
const maxRestMs = 2_000;

/** What a page shows. */
export interface Sight {
  /** The same for pages that show the same. */
  readonly key: string;
  /** Reads it in a form that differs when the page would. */
  readonly read: () => Promise<string>;
}

interface Watch {
  readonly read: Sight['read'];
  readonly followers: Set<object>;
  result: string | Error | undefined;
}

/** Reads what the open pages show in one loop, once for all that show the same. */
export function watchLocks({ pollMs, onError }: LockWatchOptions) {
  const watches = new Map<string, Watch>();
  /** Fulfilled when followers must look at their watch. */
  let changed = Promise.withResolvers<void>();
  let woken = Promise.withResolvers<void>();
  let running: Promise<void> | undefined;

  function notify(): void {
    changed.resolve();
    changed = Promise.withResolvers();
  }

  async function check(watch: Watch): Promise<void> {
    const result = await watch.read().catch((error: unknown) => {
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
      for (const watch of watches.values()) {
        await check(watch);
        await yieldToEventLoop();
      }
      const rest = Math.min(Math.max((performance.now() - startedAt) * restPerWork, shortestRestMs), maxRestMs);
      const timer = setTimeout(woken.resolve, pollMs);
      await Promise.all([woken.promise, sleep(rest)]);
      clearTimeout(timer);
    }
    running = undefined;
  }

  return {
    /** Yields at the start and after each change of what is seen, until aborted. Rejects if the database fails. */
    async *follow({ key, read }: Sight, gone: AbortSignal): AsyncGenerator<void, void, undefined> {
      if (gone.aborted) return;
      const follower = {};
      const watch = watches.get(key) ?? { read, followers: new Set(), result: undefined };
      const leave = (): void => {
        if (watch.followers.delete(follower) && watch.followers.size === 0) watches.delete(key);
        notify();
      };
      gone.addEventListener('abort', leave, { once: true });
      watches.set(key, watch);
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
