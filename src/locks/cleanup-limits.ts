import type { CallLimits, Clock } from '../client/client.ts';

/** A cancelled step must end within 5 s, and reporting and exiting take a part of that. */
const afterCancelMs = 3_500;

/** Ends of the time after a cancellation, which all cleanups of a step share. */
const ends = new WeakMap<AbortSignal, AbortSignal>();

/** Limits for a cleanup. It runs even if the step is cancelled, but is then short. */
export function cleanupLimits(clock: Clock, timeMs: number, cancelled: AbortSignal): CallLimits {
  const signal = ends.get(cancelled) ?? endAfter(cancelled);
  ends.set(cancelled, signal);
  return { deadline: clock() + timeMs, signal };
}

function endAfter(cancelled: AbortSignal): AbortSignal {
  const end = new AbortController();
  const startCountdown = () => setTimeout(() => end.abort(), afterCancelMs).unref();
  if (cancelled.aborted) startCountdown();
  else cancelled.addEventListener('abort', startCountdown, { once: true });
  return end.signal;
}
