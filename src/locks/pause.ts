import type { Blocked } from './messages.ts';

const firstPauseMs = 1_000;
const maxPauseMs = 10_000;
const growth = 1.5;

/** Randomized, because the service may have sent the same retry time to all clients of a path. */
export function pauseMs(round: number, retryAfterMs = 0, random: () => number): number {
  const backoff = Math.min(maxPauseMs, firstPauseMs * growth ** round);
  return Math.max(backoff / 2, retryAfterMs) + (random() * Math.max(backoff, retryAfterMs)) / 2;
}

/** The wait until the first of the paths may be free. */
export function soonestRetryMs({ conflicts }: Blocked): number | undefined {
  const asked = conflicts.map(({ retryAfterMs }) => retryAfterMs).filter((ms) => ms !== undefined);
  return asked.length === 0 ? undefined : Math.min(...asked);
}
