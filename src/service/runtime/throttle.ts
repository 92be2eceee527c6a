import { limitRate } from './limit-rate.ts';

/** Reports `max` events at once and in each interval, each with the number of events that were skipped before. */
export function throttle({ max, everyMs }: { readonly max: number; readonly everyMs: number }, clock: () => number) {
  const { charge } = limitRate({ burst: max, perSecond: (max * 1_000) / everyMs }, clock);
  let skipped = 0;
  return (report: (after: { readonly skipped?: number }) => void): void => {
    if (charge('') > 0) {
      skipped += 1;
      return;
    }
    const after = skipped > 0 ? { skipped } : {};
    skipped = 0;
    report(after);
  };
}
