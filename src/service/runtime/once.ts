/**
 * Shares running work among all callers with the same key. Work that calls `onStart` is shared only by callers before
 * that call, so that its result is newer than each of their requests. `ended` waits for all work, even if it fails.
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
    // `onStart` may have been called already.
    if (isShared) running.set(key, promise);
    return promise;
  };
  return Object.assign(once, { ended: () => Promise.allSettled(unfinished) });
}
