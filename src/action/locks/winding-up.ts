import type { Clock, Within } from '../../client/client.ts';

/** A cancelled step has to be gone in 5 s, and some of that goes into starting to end and into telling. */
const afterCancelMs = 3_500;

/** Limits for what has to be put in order: cancelled or not, it is done, but once cancelled it is done quickly. */
export function windingUp(clock: Clock, patienceMs: number, cancelled: AbortSignal): Within & { lift(): void } {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const hurry = (): void => {
    timer = setTimeout(() => late.abort(), afterCancelMs);
  };
  if (cancelled.aborted) hurry();
  else cancelled.addEventListener('abort', hurry, { once: true });
  return {
    deadline: clock() + patienceMs,
    signal: late.signal,
    lift() {
      cancelled.removeEventListener('abort', hurry);
      clearTimeout(timer);
    },
  };
}
