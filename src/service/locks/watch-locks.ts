import type { Storage } from '../storage/storage.ts';
import { type ActiveLock, heldLocks, lockSignature } from './list.ts';

export type LockUpdate =
  /** The active locks, sent first. */
  | { readonly kind: 'all'; readonly locks: readonly ActiveLock[] }
  /** Locks acquired or renewed since then, and paths that are free. */
  | { readonly kind: 'changed'; readonly locks: readonly ActiveLock[]; readonly free: readonly string[] };

export interface LockWatchOptions {
  /** The interval for finding changes of other instances and commands, and expired locks. */
  readonly pollMs: number;
  readonly onError: (error: unknown) => void;
}

export interface LockWatch {
  /** All locks of a workspace, and then whatever changes, until the signal. Rejected when the database does not answer. */
  follow(workspace: string, gone: AbortSignal): AsyncGenerator<LockUpdate, void, undefined>;
  /** Locks may have changed just now. */
  wake(): void;
  stop(): Promise<void>;
}

/** Looking may take this part of the time at most, however often it is woken. */
const restPerWork = 4;
const shortestRestMs = 50;
const maxRestMs = 600;
const none: ReadonlyMap<string, ActiveLock> = new Map();

type Follower = ReturnType<typeof createFollower>;

interface Watcher {
  readonly followers: Set<Follower>;
  known: ReadonlyMap<string, ActiveLock> | undefined;
  signature: string;
  /** Ends the wait before the next look. */
  wake(): void;
  running: Promise<void>;
}

/** One watcher for each workspace that anybody follows: it costs the same for one page as for a hundred. */
export function watchLocks(storage: Storage, { pollMs, onError }: LockWatchOptions): LockWatch {
  const watchers = new Map<string, Watcher>();

  async function look(watcher: Watcher, workspace: string): Promise<void> {
    // Read before the locks: what changes in between makes another signature the next time.
    const signature = await lockSignature(storage, workspace);
    if (watcher.known !== undefined && signature === watcher.signature) return;
    const held = await heldLocks(storage, workspace);
    const known = new Map(held.map((each) => [each.lock.path, each]));
    const isFirst = watcher.known === undefined;
    const changes = compare(watcher.known ?? none, known);
    watcher.known = known;
    watcher.signature = signature;
    for (const follower of watcher.followers) {
      if (isFirst) follower.begin(held);
      else if (changes.size > 0) follower.change(changes);
    }
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
      if (known.known !== undefined) first.begin([...known.known.values()]);
      return known;
    }
    const watcher: Watcher = {
      followers: new Set([first]),
      known: undefined,
      signature: '',
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
        for (let news = await follower.next(); news !== undefined; news = await follower.next()) yield news;
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

/** Active locks on paths with changes; null for a free path. */
type LockChanges = ReadonlyMap<string, ActiveLock | null>;

function compare(before: ReadonlyMap<string, ActiveLock>, after: ReadonlyMap<string, ActiveLock>): LockChanges {
  const changes = new Map<string, ActiveLock | null>();
  for (const [path, held] of after) if (!isSame(held, before.get(path))) changes.set(path, held);
  for (const path of before.keys()) if (!after.has(path)) changes.set(path, null);
  return changes;
}

const isSame = (one: ActiveLock, other: ActiveLock | undefined): boolean =>
  one.lock.id === other?.lock.id && one.lock.expires_at === other.lock.expires_at;

/** A slow one misses intermediate states, and never has more than one change waiting per path. */
function createFollower() {
  const changed = new Map<string, ActiveLock | null>();
  let all: readonly ActiveLock[] | undefined;
  let ended: { readonly error: Error | undefined } | undefined;
  let something = Promise.withResolvers<void>();

  function take(): LockUpdate | undefined {
    if (all !== undefined) {
      const locks = all;
      all = undefined;
      return { kind: 'all', locks };
    }
    if (changed.size === 0) return undefined;
    const locks = [...changed.values()].filter((held) => held !== null);
    const free = [...changed].flatMap(([path, held]) => (held === null ? [path] : []));
    changed.clear();
    return { kind: 'changed', locks, free };
  }

  return {
    begin(locks: readonly ActiveLock[]): void {
      all = locks;
      something.resolve();
    },
    change(changes: LockChanges): void {
      for (const [path, held] of changes) changed.set(path, held);
      something.resolve();
    },
    /** With an error, a pending read is rejected. */
    end(error?: Error): void {
      ended ??= { error };
      something.resolve();
    },
    /** Undefined when it has ended. */
    async next(): Promise<LockUpdate | undefined> {
      for (;;) {
        if (ended?.error !== undefined) throw ended.error;
        if (ended !== undefined) return undefined;
        const news = take();
        if (news !== undefined) return news;
        something = Promise.withResolvers<void>();
        await something.promise;
      }
    },
  };
}
