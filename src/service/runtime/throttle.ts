import { limitRate } from './limit-rate.ts';

export interface ThrottleOptions {
  readonly max: number;
  readonly everyMs: number;
}

/** A call that passes gets the number of calls suppressed since the last one. */
export type Throttled = { readonly passes: true; readonly skipped: number } | { readonly passes: false };

/** For events that clients can cause at will: lets `max` pass at once and in each interval, and counts the others. */
export function throttle({ max, everyMs }: ThrottleOptions, clock: () => number): () => Throttled {
  const { admit } = limitRate({ burst: max, perSecond: (max * 1_000) / everyMs }, clock);
  let skipped = 0;
  return () => {
    if (admit('').kind === 'refused') {
      skipped += 1;
      return { passes: false };
    }
    const result: Throttled = { passes: true, skipped };
    skipped = 0;
    return result;
  };
}
