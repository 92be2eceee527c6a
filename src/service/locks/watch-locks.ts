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

/** Checks all followed workspaces in one loop, so that the cost does not grow with the number of open pages. */
export function watchLocks(storage: Storage, { pollMs, onError }: LockWatchOptions) {
  /** The workspace of each follower. */
  const followed = new Map<object, string>();
  /** Result of the last check, by workspace. */
  let signatures: ReadonlyMap<string, string> = new Map();
  /** Settled when followers must look at the properties above. */
  let changed = Promise.withResolvers<void>();
  let woken = Promise.withResolvers<void>();
  let running: Promise<void> | undefined;

  function notify(): void {
    changed.resolve();
    changed = Promise.withResolvers();
  }

  async function check(): Promise<void> {
    const workspaces = [...new Set(followed.values())];
    const read = workspaces.map(async (workspace) => [workspace, await lockSignature(storage, workspace)] as const);
    signatures = new Map(await Promise.all(read));
  }

  async function run(): Promise<void> {
    while (followed.size > 0) {
      woken = Promise.withResolvers();
      const began = performance.now();
      await check().catch((error: unknown) => {
        onError(error);
        changed.promise.catch(() => undefined);
        changed.reject(new Error('The locks could not be read.', { cause: error }));
      });
      notify();
      const rest = Math.min(Math.max((performance.now() - began) * restPerWork, shortestRestMs), maxRestMs);
      const timer = setTimeout(woken.resolve, pollMs);
      await Promise.all([woken.promise, sleep(rest)]);
      clearTimeout(timer);
    }
    running = undefined;
  }

  return {
    /**
     * Yields at the start and after each change of the workspace's locks, until aborted. Rejects if the database fails.
     */
    async *follow(workspace: string, gone: AbortSignal): AsyncGenerator<void, void, undefined> {
      if (gone.aborted) return;
      const follower = {};
      const leave = (): void => {
        followed.delete(follower);
        notify();
      };
      gone.addEventListener('abort', leave, { once: true });
      followed.set(follower, workspace);
      woken.resolve();
      running ??= run();
      try {
        for (let seen: string | undefined; followed.has(follower); ) {
          const signature = signatures.get(workspace);
          if (signature === seen) await changed.promise;
          else {
            seen = signature;
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
      followed.clear();
      notify();
      woken.resolve();
      await running;
    },
  };
}
