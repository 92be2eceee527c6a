export interface ParallelLimit {
  readonly max: number;
  /** So that the work of one key leaves places for that of others. */
  readonly maxPerKey?: number;
  /** Without it, work waits for as long as it takes. */
  readonly patience?: {
    readonly maxWaitMs: number;
    /** What is thrown where no place came free in time. */
    readonly busy: () => Error;
  };
}

interface Waiting {
  readonly key: string;
  readonly start: () => void;
}

/**
 * Runs at most `max` pieces of work at the same time. A place that comes free goes to the key with the fewest of them,
 * and among equals to the one that came first.
 */
export function limitParallel({ max, maxPerKey = max, patience }: ParallelLimit) {
  const waiting = new Set<Waiting>();
  const running = new Map<string, number>();
  let total = 0;

  const runningOf = (key: string): number => running.get(key) ?? 0;

  function count(key: string, difference: 1 | -1): void {
    total += difference;
    const now = runningOf(key) + difference;
    if (now === 0) running.delete(key);
    else running.set(key, now);
  }

  function nextWaiting(): Waiting | undefined {
    let next: Waiting | undefined;
    for (const each of waiting) {
      const isBelowItsShare = runningOf(each.key) < maxPerKey;
      if (isBelowItsShare && (next === undefined || runningOf(each.key) < runningOf(next.key))) next = each;
    }
    return next;
  }

  function startWaiting(): void {
    while (total < max) {
      const next = nextWaiting();
      if (next === undefined) return;
      waiting.delete(next);
      count(next.key, 1);
      next.start();
    }
  }

  function place(key: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer =
        patience &&
        setTimeout(() => {
          waiting.delete(asked);
          reject(patience.busy());
        }, patience.maxWaitMs);
      const asked: Waiting = {
        key,
        start() {
          clearTimeout(timer);
          resolve();
        },
      };
      waiting.add(asked);
      startWaiting();
    });
  }

  async function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    await place(key);
    try {
      return await work();
    } finally {
      count(key, -1);
      startWaiting();
    }
  }
  return Object.assign(inTurn, {
    /** Whether work of another key waits for a place that this key has. */
    isWaitedFor: (key: string): boolean =>
      [...waiting].some((each) => each.key !== key && runningOf(each.key) < maxPerKey),
  });
}
