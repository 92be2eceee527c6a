/**
 * Shares running work among all callers with the same key. Work that calls `onStart` is shared only by callers before
 * that call, so that its result is newer than each of their requests.
 */
export function createOnce<T>() {
  const running = new Map<string, Promise<T>>();
  return (key: string, work: (onStart: () => void) => Promise<T>): Promise<T> => {
    const known = running.get(key);
    if (known !== undefined) return known;
    let isShared = true;
    let promise: Promise<T> | undefined;
    const forget = (): void => {
      isShared = false;
      if (running.get(key) === promise) running.delete(key);
    };
    promise = work(forget).finally(forget);
    // `onStart` may have been called already.
    if (isShared) running.set(key, promise);
    return promise;
  };
}
