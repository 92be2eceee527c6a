/** Time that advances from one event to the next, as fast as they can be processed: a day takes a moment. */
export type VirtualTime = ReturnType<typeof createVirtualTime>;

interface Event {
  readonly at: number;
  readonly what: () => void;
}

/** Only promises continue the work, so it has settled when all their callbacks have run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Starts at this number of milliseconds since 1970. */
export function createVirtualTime(start: number) {
  /** In order; events at the same time run in the order in which they were planned. */
  const events: Event[] = [];
  let now = start;
  let woken = false;

  /** Plans an event, and returns a function that cancels it. */
  function after(ms: number, what: () => void): () => void {
    const event: Event = { at: now + Math.max(0, ms), what };
    events.splice(events.findLastIndex(({ at }) => at <= event.at) + 1, 0, event);
    return () => {
      const index = events.indexOf(event);
      if (index >= 0) events.splice(index, 1);
    };
  }

  /** Resolves a promise: its consequences happen at the same time, before the next event. */
  function fulfil<T>(resolve: (value: T) => void, value: T): void {
    woken = true;
    resolve(value);
  }

  /** Advances to the next event; false if none is planned until then. */
  function passToNext(end: number): boolean {
    const [next] = events;
    if (next === undefined || next.at > end) return false;
    events.shift();
    now = next.at;
    woken = false;
    next.what();
    return true;
  }

  return {
    now: () => now,
    after,
    sleep: (ms: number): Promise<void> => new Promise((resolve) => void after(ms, () => fulfil(resolve, undefined))),

    /** Sleeps, and ends early without an error if the signal is aborted. */
    sleepUnless: (ms: number, signal?: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const end = (): void => {
          cancel();
          signal?.removeEventListener('abort', end);
          fulfil(resolve, undefined);
        };
        const cancel = after(signal?.aborted ? 0 : ms, end);
        signal?.addEventListener('abort', end, { once: true });
      }),

    /** Runs all events that are due until then. */
    async runUntil(end: number): Promise<void> {
      await settled();
      while (passToNext(end)) if (woken) await settled();
      now = end;
    },

    /** Advances time until the work is done. */
    async pass<T>(work: Promise<T>): Promise<T> {
      let isDone = false;
      const done = work.finally(() => {
        isDone = true;
      });
      done.catch(() => undefined);
      for (;;) {
        await settled();
        if (isDone) return done;
        if (!passToNext(Number.POSITIVE_INFINITY)) throw new Error('Nothing is left to wait for.');
      }
    },
  };
}
