import { limitRate } from './limit-rate.ts';

/**
 * For events that clients can cause at will: lets `max` pass at once and in each interval, and counts the others. A
 * call that passes gets the number of calls suppressed since the last one.
 */
export function throttle({ max, everyMs }: { readonly max: number; readonly everyMs: number }, clock: () => number) {
  const { admit } = limitRate({ burst: max, perSecond: (max * 1_000) / everyMs }, clock);
  let skipped = 0;
  return () => {
    if (admit('').kind === 'refused') {
      skipped += 1;
      return { passes: false } as const;
    }
    const result = { passes: true, skipped } as const;
    skipped = 0;
    return result;
  };
}
