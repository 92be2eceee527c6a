interface ParallelLimit {
  readonly max: number;
  /** Leaves slots for other keys. */
  readonly maxPerKey?: number;
  /** Without a timeout, work waits indefinitely. */
  readonly timeout?: {
    readonly ms: number;
    readonly error: () => Error;
  };
}

/**
 * Runs at most `max` pieces of work in parallel. A free slot goes to the key with the fewest slots, and among equals to
 * the one that has waited longest. The cost of that choice does not depend on the number of waiting pieces.
 */
export function limitParallel({ max, maxPerKey = max, timeout }: ParallelLimit) {
  const running = new Map<string, number>();
  /** Waiting work by key, in order of arrival. When work of a key starts, the key moves to the end. */
  const waiting = new Map<string, Set<() => void>>();
  let total = 0;

  const runningOf = (key: string): number => running.get(key) ?? 0;

  function count(key: string, difference: 1 | -1): void {
    total += difference;
    const now = runningOf(key) + difference;
    if (now === 0) running.delete(key);
    else running.set(key, now);
  }

  /** Stops at the first key without a slot. */
  function nextKey(): string | undefined {
    if (total >= max) return undefined;
    let next: string | undefined;
    let fewest = maxPerKey;
    for (const key of waiting.keys()) {
      if (runningOf(key) < fewest) [next, fewest] = [key, runningOf(key)];
      if (fewest === 0) break;
    }
    return next;
  }

  function startWaiting(): void {
    for (let key = nextKey(); key !== undefined; key = nextKey()) {
      const queue = waiting.get(key) ?? new Set();
      const [start] = queue;
      waiting.delete(key);
      if (start === undefined) continue;
      queue.delete(start);
      if (queue.size > 0) waiting.set(key, queue);
      count(key, 1);
      start();
    }
  }

  function waitForSlot(key: string, gone: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      gone?.throwIfAborted();
      const queue = waiting.get(key) ?? new Set();
      function stopWaiting(): void {
        clearTimeout(timer);
        gone?.removeEventListener('abort', onGone);
      }
      function start(): void {
        stopWaiting();
        resolve();
      }
      function leave(reason: unknown): void {
        stopWaiting();
        queue.delete(start);
        if (queue.size === 0) waiting.delete(key);
        reject(reason);
      }
      const onGone = (): void => leave(gone?.reason);
      const timer = timeout && setTimeout(() => leave(timeout.error()), timeout.ms);
      gone?.addEventListener('abort', onGone);
      waiting.set(key, queue.add(start));
      startWaiting();
    });
  }

  /** Work leaves the queue if its client has disconnected. */
  return async <T>(key: string, work: () => Promise<T>, gone?: AbortSignal): Promise<T> => {
    await waitForSlot(key, gone);
    try {
      return await work();
    } finally {
      count(key, -1);
      startWaiting();
    }
  };
}
