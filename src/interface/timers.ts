/** With a longer time, a timer would fire immediately. */
export const maxTimerMs = 2 ** 31 - 1;

/** Resolves with the fallback if the promise takes too long. The promise is then ignored, even if it rejects. */
export async function withinMs<T, Fallback>(promise: Promise<T>, ms: number, fallback: Fallback) {
  const late = Promise.withResolvers<Fallback>();
  const timer = setTimeout(() => late.resolve(fallback), ms).unref();
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Rejects as soon as the signal is aborted. The work itself continues, and its result is ignored. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const stop = (): void => aborted.reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    // A signal from AbortSignal.any() that has a listener is never garbage-collected.
    signal.removeEventListener('abort', stop);
  }
}
