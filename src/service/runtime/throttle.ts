export interface ThrottleOptions {
  readonly max: number;
  readonly everyMs: number;
}

/** A call that passes gets the number of calls suppressed since the last one. */
export type Throttled = { readonly passes: true; readonly skipped: number } | { readonly passes: false };

/** For events that clients can cause at will: lets at most `max` pass in each interval, and counts the others. */
export function throttle({ max, everyMs }: ThrottleOptions, clock: () => number): () => Throttled {
  let began = Number.NEGATIVE_INFINITY;
  let passed = 0;
  let skipped = 0;
  return () => {
    const now = clock();
    if (now - began >= everyMs) {
      began = now;
      passed = 0;
    }
    if (passed >= max) {
      skipped += 1;
      return { passes: false };
    }
    passed += 1;
    const result: Throttled = { passes: true, skipped };
    skipped = 0;
    return result;
  };
}
