import type { CallLimits, Clock } from '../client/client.ts';

/** A cancelled step must end within 5 s, and reporting and exiting take a part of that. */
const afterCancelMs = 3_500;

/** Limits for the cleanup. It runs even if the step is cancelled, but is then short. */
export function cleanupLimits(clock: Clock, timeMs: number, cancelled: AbortSignal): CallLimits & { stop(): void } {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const startCountdown = (): void => {
    timer = setTimeout(() => late.abort(), afterCancelMs);
  };
  if (cancelled.aborted) startCountdown();
  else cancelled.addEventListener('abort', startCountdown, { once: true });
  return {
    deadline: clock() + timeMs,
    signal: late.signal,
    stop() {
      cancelled.removeEventListener('abort', startCountdown);
      clearTimeout(timer);
    },
  };
}
