import type { HeldLock } from './list.ts';

export type LockNews =
  /** What there is: comes first. */
  | { readonly kind: 'all'; readonly locks: readonly HeldLock[] }
  /** What was taken or renewed since, and the paths that are free. */
  | { readonly kind: 'changed'; readonly locks: readonly HeldLock[]; readonly free: readonly string[] };

/** What is held now at paths where something has changed; null where nothing is. */
export type LockChanges = ReadonlyMap<string, HeldLock | null>;

/** A listener for changes. A slow one misses intermediate states, and never has more than one change waiting per path. */
export interface LockFollower {
  begin(locks: readonly HeldLock[]): void;
  change(changes: LockChanges): void;
  /** Ends the listener; with an error, a pending read is rejected. */
  end(error?: Error): void;
  /** Undefined when it has ended. */
  next(): Promise<LockNews | undefined>;
}

export function createFollower(): LockFollower {
  const changed = new Map<string, HeldLock | null>();
  let all: readonly HeldLock[] | undefined;
  let ended: { readonly error: Error | undefined } | undefined;
  let something = Promise.withResolvers<void>();

  function take(): LockNews | undefined {
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
    begin(locks) {
      all = locks;
      something.resolve();
    },
    change(changes) {
      for (const [path, held] of changes) changed.set(path, held);
      something.resolve();
    },
    end(error) {
      ended ??= { error };
      something.resolve();
    },
    async next() {
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
