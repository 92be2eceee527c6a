const first = 500;
const longest = 10_000;

/** Everybody who was sent away at the same moment was told the same time to wait. */
const spread = 250;

/** How long to wait after so many failed attempts, unless the server has said it. */
export function backoff(failed: number, retryAfterMs: number | undefined, random: () => number): number {
  const half = Math.min(longest, first * 2 ** (failed - 1)) / 2;
  if (retryAfterMs === undefined) return half + random() * half;
  return Math.max(retryAfterMs + random() * spread, half);
}
