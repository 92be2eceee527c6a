export interface ParallelLimit {
  readonly max: number;
  /** Leaves slots for the work of other keys. */
  readonly maxPerKey?: number;
  /** Without a timeout, work waits indefinitely. */
  readonly timeout?: {
    readonly ms: number;
    /** Error if no slot became free in time. */
    readonly error: () => Error;
  };
}

interface Key {
  readonly name: string;
  running: number;
  /** In order of arrival. */
  readonly waiting: Set<() => void>;
}

/**
 * Runs at most `max` pieces of work at the same time. A free slot goes to the key with the fewest slots, and among
 * equals to the one that has waited longest. The cost of this choice does not depend on the number of waiting pieces.
 */
export function limitParallel({ max, maxPerKey = max, timeout }: ParallelLimit) {
  /** Keys with running or waiting work. */
  const keys = new Map<string, Key>();
  /** Keys with waiting work, by number of running pieces, in the order in which they reached that number. */
  const levels: Set<Key>[] = [];
  let total = 0;

  function keyOf(name: string): Key {
    const known = keys.get(name);
    if (known !== undefined) return known;
    const key: Key = { name, running: 0, waiting: new Set() };
    keys.set(name, key);
    return key;
  }

  /** Must be called after each change of a key. */
  function place(key: Key, from = key.running): void {
    if (from !== key.running || key.waiting.size === 0) levels[from]?.delete(key);
    if (key.waiting.size > 0) {
      while (levels.length <= key.running) levels.push(new Set());
      levels[key.running]?.add(key);
    } else if (key.running === 0) keys.delete(key.name);
  }

  function count(key: Key, difference: 1 | -1): void {
    total += difference;
    key.running += difference;
    place(key, key.running - difference);
  }

  function nextKey(): Key | undefined {
    for (const [running, level] of levels.entries()) {
      if (running >= maxPerKey) return undefined;
      const [first] = level;
      if (first !== undefined) return first;
    }
    return undefined;
  }

  function startWaiting(): void {
    while (total < max) {
      const key = nextKey();
      const [start] = key?.waiting ?? [];
      if (key === undefined || start === undefined) return;
      key.waiting.delete(start);
      count(key, 1);
      start();
    }
  }

  function waitForPlace(key: Key): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer =
        timeout &&
        setTimeout(() => {
          key.waiting.delete(start);
          place(key);
          reject(timeout.error());
        }, timeout.ms);
      function start(): void {
        clearTimeout(timer);
        resolve();
      }
      key.waiting.add(start);
      place(key);
      startWaiting();
    });
  }

  async function limited<T>(name: string, work: () => Promise<T>): Promise<T> {
    const key = keyOf(name);
    await waitForPlace(key);
    try {
      return await work();
    } finally {
      count(key, -1);
      startWaiting();
    }
  }
  return Object.assign(limited, {
    /** Whether work of another key waits for a slot that this key has. */
    isWaitedFor: (name: string): boolean =>
      levels.slice(0, maxPerKey).some((level) => level.values().some((key) => key.name !== name)),
  });
}
