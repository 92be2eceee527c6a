import { setTimeout as wait } from 'node:timers/promises';
import { maxTimerMs } from '../interface/timers.ts';

/** Schedules work. Returns a function that cancels it. */
export type StartTimer = (ms: number, work: () => void) => () => void;

interface TimeLimit {
  /** Aborted when the time has passed or an outer signal is aborted. */
  readonly signal: AbortSignal;
  /** Whether the time had passed before any outer signal was aborted. */
  isOver(): boolean;
  stop(): void;
}

/**
 * Like `AbortSignal.timeout`, but it can be stopped, and its timer can be replaced. Cheaper than `AbortSignal.any`:
 * each request has two.
 */
export function startTimeLimit(
  ms: number,
  outer: readonly AbortSignal[],
  startTimer: StartTimer = startMachineTimer,
): TimeLimit {
  const controller = new AbortController();
  const { signal } = controller;
  let isOver = false;
  const abort = (): void => controller.abort(outer.find(({ aborted }) => aborted)?.reason);
  const stopTimer = startTimer(ms, () => {
    if (signal.aborted) return;
    isOver = true;
    controller.abort();
  });
  for (const each of outer) each.addEventListener('abort', abort, { once: true });
  if (outer.some(({ aborted }) => aborted)) abort();
  return {
    signal,
    isOver: () => isOver,
    stop() {
      stopTimer();
      for (const each of outer) each.removeEventListener('abort', abort);
    },
  };
}

/** Returns early, without an error, when the signal is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  for (let left = ms; left > 0 && signal?.aborted !== true; left -= maxTimerMs) {
    await wait(Math.min(left, maxTimerMs), undefined, { ...(signal && { signal }) }).catch(() => undefined);
  }
}

const startMachineTimer: StartTimer = (ms, work) => {
  const timer = setTimeout(work, Math.min(Math.max(ms, 0), maxTimerMs));
  return () => clearTimeout(timer);
};
