/**
 * Shares running work among all callers with the same key. If the work calls `onStart`, only callers before that share
 * it, so that the result is newer than each of their calls. `ended` waits for all work, even if some fails.
 */
export function createOnce<T>() {
  const running = new Map<string, Promise<T>>();
  const unfinished = new Set<Promise<T> | undefined>();
  const once = (key: string, work: (onStart: () => void) => Promise<T>): Promise<T> => {
    const known = running.get(key);
    if (known !== undefined) return known;
    let isShared = true;
    let promise: Promise<T> | undefined;
    const forget = (): void => {
      isShared = false;
      if (running.get(key) === promise) running.delete(key);
    };
    promise = work(forget).finally(() => {
      forget();
      unfinished.delete(promise);
    });
    unfinished.add(promise);
    // `onStart` may already have been called.
    if (isShared) running.set(key, promise);
    return promise;
  };
  return Object.assign(once, { ended: () => Promise.allSettled(unfinished) });
}
