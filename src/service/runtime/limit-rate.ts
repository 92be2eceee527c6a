/** Limit per key: `burst` at once, and `perSecond` on average. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export const perMinute = (max: number): Rate => ({ perSecond: max / 60, burst: max });

interface Bucket {
  level: number;
  filledAt: number;
}

/** Tolerance for rounding, so that a client that waited for Retry-After is admitted. */
const rounding = 1e-9;

/** With more buckets than this, full ones are dropped: they are equal to new ones. */
const bucketsBeforeSweep = 10_000;

/** A token bucket per key, in the memory of this instance. `clock` returns milliseconds. */
export function limitRate({ perSecond, burst }: Rate, clock = () => performance.now()) {
  const buckets = new Map<string, Bucket>();
  let sweptAt = clock();

  function sweep(now: number): void {
    const fullBefore = now - Math.ceil(burst / perSecond) * 1_000;
    // An earlier sweep would find nothing, and its cost grows with the number of keys.
    if (buckets.size <= bucketsBeforeSweep || sweptAt > fullBefore) return;
    sweptAt = now;
    for (const [key, { filledAt }] of buckets) if (filledAt < fullBefore) buckets.delete(key);
  }

  function filled(key: string): Bucket {
    const now = clock();
    const bucket = buckets.get(key) ?? { level: burst, filledAt: now };
    bucket.level = Math.min(burst, bucket.level + ((now - bucket.filledAt) / 1_000) * perSecond);
    bucket.filledAt = now;
    return bucket;
  }

  const secondsUntil = (level: number, wanted: number): number =>
    level >= wanted - rounding ? 0 : Math.max(1, Math.ceil((wanted - level) / perSecond - rounding));

  return {
    /** Charges the key and returns 0. Otherwise charges nothing, and returns the seconds until it can be charged. */
    charge(key: string): number {
      const bucket = filled(key);
      const seconds = secondsUntil(bucket.level, 1);
      if (seconds > 0) return seconds;
      sweep(bucket.filledAt);
      bucket.level = Math.max(0, bucket.level - 1);
      buckets.set(key, bucket);
      return 0;
    },
    /** How many charges are possible now, and the seconds until the first one is. */
    remaining(key: string): { readonly charges: number; readonly seconds: number } {
      const { level } = filled(key);
      return { charges: Math.max(0, Math.floor(level + rounding)), seconds: secondsUntil(level, 1) };
    },
  };
}

/** Reports `max` events at once and per interval, each with the number of events skipped before it. */
export function throttle({ max, everyMs }: { readonly max: number; readonly everyMs: number }, clock?: () => number) {
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
