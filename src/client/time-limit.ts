/** What ended something before it was done. */
export type Ending = 'timeout' | 'deadline' | 'aborted';

export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Undefined as long as nothing has ended it. */
  ending(): Ending | undefined;
  /** What was limited is done: the timer stops. */
  lift(): void;
}

/** A signal of somebody else, and what it means when it is aborted. */
export interface Outer {
  readonly signal: AbortSignal;
  ending(): Ending | undefined;
}

export const abortedBy = (signal: AbortSignal): Outer => ({ signal, ending: () => 'aborted' });

/** A longer time would make the timer fire at once. */
export const longestTimer = 2 ** 31 - 1;

/** Does something later, unless it is cancelled by what this gives. */
export type StartTimer = (ms: number, work: () => void) => () => void;

const startMachineTimer: StartTimer = (ms, work) => {
  const timer = setTimeout(work, Math.min(Math.max(ms, 0), longestTimer));
  return () => clearTimeout(timer);
};

/** Ends what listens to its signal after a time, or earlier with one of the outer signals. */
export function startTimeLimit(
  ms: number,
  meaning: Ending,
  outers: readonly Outer[],
  startTimer: StartTimer = startMachineTimer,
): TimeLimit {
  const controller = new AbortController();
  let ended: Ending | undefined;
  const end = (ending: Ending): void => {
    ended ??= ending;
    controller.abort();
  };

  const stopTimer = startTimer(ms, () => end(meaning));
  const forgetters = outers.map(({ signal, ending }) => {
    const pass = (): void => end(ending() ?? 'aborted');
    if (signal.aborted) pass();
    else signal.addEventListener('abort', pass, { once: true });
    return () => signal.removeEventListener('abort', pass);
  });

  return {
    signal: controller.signal,
    ending: () => ended,
    lift: () => {
      stopTimer();
      for (const forget of forgetters) forget();
    },
  };
}

/** The promise, or undefined as soon as the signal is aborted; what the promise ends with then is of no interest. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(undefined);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
