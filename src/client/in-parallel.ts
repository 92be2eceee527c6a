import { maxConnections } from './connection.ts';

/**
 * Processes the items in order, one per connection at a time, until `shouldContinue` returns false. If one fails,
 * starts no more, and throws the error when the running ones have ended, because the caller may have to undo them.
 * Returns the results in the order of the items.
 */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  shouldContinue: () => boolean = () => true,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (;;) {
      const index = next;
      const item = items[index];
      if (item === undefined || !shouldContinue()) return;
      next += 1;
      results[index] = await work(item).catch((error: unknown) => {
        next = items.length;
        throw error;
      });
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.min(maxConnections, items.length) }, worker));
  for (const each of workers) if (each.status === 'rejected') throw each.reason;
  return results;
}

/** Allows at most `size` holders at once, in order of arrival. Undefined if the signal was aborted first. */
export function createSemaphore(size: number): (signal: AbortSignal) => Promise<(() => void) | undefined> {
  let free = size;
  const waiting = new Set<() => void>();

  function release(): void {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  }

  return async (signal) => {
    if (signal.aborted) return undefined;
    if (free > 0) {
      free -= 1;
      return release;
    }
    return new Promise((resolve) => {
      const giveUp = (): void => {
        waiting.delete(enter);
        resolve(undefined);
      };
      const enter = (): void => {
        waiting.delete(enter);
        signal.removeEventListener('abort', giveUp);
        resolve(release);
      };
      waiting.add(enter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  };
}
