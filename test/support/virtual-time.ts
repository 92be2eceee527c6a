import { setImmediate as idle } from 'node:timers/promises';

interface Timer {
  readonly at: number;
  readonly work: () => void;
}

/** A time that passes only when everybody waits for it: a day is over at once. */
export function startVirtualTime(start: number) {
  let now = start;
  const timers = new Set<Timer>();

  function startTimer(ms: number, work: () => void): () => void {
    const timer = { at: now + Math.max(0, ms), work };
    timers.add(timer);
    return () => timers.delete(timer);
  }

  return {
    clock: (): number => now,
    startTimer,

    /** Ends early, without an error, when the signal is aborted. */
    sleep: (ms: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const cancel = startTimer(signal.aborted ? 0 : ms, () => {
          signal.removeEventListener('abort', wake);
          resolve();
        });
        function wake(): void {
          cancel();
          resolve();
        }
        signal.addEventListener('abort', wake, { once: true });
      }),

    /** Lets the time pass until the work is done. */
    async pass<T>(work: Promise<T>): Promise<T> {
      let isDone = false;
      const done = work.finally(() => {
        isDone = true;
      });
      done.catch(() => undefined);
      for (;;) {
        await idle();
        if (isDone) return done;
        let first: Timer | undefined;
        for (const timer of timers) if (first === undefined || timer.at < first.at) first = timer;
        if (first === undefined) throw new Error('Nothing is left to wait for.');
        timers.delete(first);
        now = Math.max(now, first.at);
        first.work();
      }
    },
  };
}
