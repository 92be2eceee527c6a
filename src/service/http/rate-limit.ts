/** Requests a second, each token for itself; null for no limit. */
export type RateLimit = { readonly perSecond: number; readonly burst: number } | null;

type Headers = Readonly<Record<string, string>>;

export type Admission =
  | { readonly kind: 'admitted'; readonly headers: Headers }
  | { readonly kind: 'refused'; readonly headers: Headers; readonly retryAfterSeconds: number };

/** A release of a lock of the token's owner is free. What turns out to be anything else is charged when it has been answered. */
export interface ReleaseAdmission {
  /** Null: the request is admitted. Otherwise only a release of a lock of the same owner is. */
  readonly retryAfterSeconds: number | null;
  /** As they are when it is charged. */
  readonly headers: Headers;
  /** It has released a lock of the token's owner. Gives the headers as they are without the charge. */
  waive(): Headers;
  /** It is answered. */
  settle(): void;
}

export interface RateLimiter {
  admit(tokenId: string): Admission;
  admitRelease(tokenId: string): ReleaseAdmission;
}

interface Bucket {
  /** Below zero: requests to release that released nothing of their owner's. */
  level: number;
  filledAt: number;
  /** Pending releases, each of which may still be charged. */
  unsettled: number;
}

/** Tolerance for rounding: a client that waited for Retry-After is admitted. */
const rounding = 1e-9;

/** A full bucket says nothing that a new one does not, so buckets that have filled up again are dropped. */
const bucketsBeforeSweep = 10_000;

const unlimitedRelease: ReleaseAdmission = {
  retryAfterSeconds: null,
  headers: {},
  waive: () => ({}),
  settle: () => undefined,
};

const unlimited: RateLimiter = {
  admit: () => ({ kind: 'admitted', headers: {} }),
  admitRelease: () => unlimitedRelease,
};

/** A token bucket for each API token, in the memory of this instance. `clock` counts milliseconds. */
export function createRateLimiter(limit: RateLimit, clock: () => number): RateLimiter {
  if (limit === null) return unlimited;
  const { perSecond, burst } = limit;
  /** How far requests to release may go below zero before each has to show that the lock is its owner's. */
  const floor = -burst;
  const secondsToFill = Math.ceil(burst / perSecond);
  const policy = `"token";q=${burst};w=${secondsToFill}`;
  const buckets = new Map<string, Bucket>();

  let sweptAt = clock();

  function sweep(now: number): void {
    // From the floor it takes as long again as from zero.
    const fullBefore = now - 2 * secondsToFill * 1_000;
    // Sooner there is nothing to find, and looking for it would take the longer the more tokens there are.
    if (buckets.size <= bucketsBeforeSweep || sweptAt > fullBefore) return;
    sweptAt = now;
    for (const [id, bucket] of buckets) {
      if (bucket.filledAt < fullBefore && bucket.unsettled === 0) buckets.delete(id);
    }
  }

  function fill(bucket: Bucket, now: number): void {
    bucket.level = Math.min(burst, bucket.level + ((now - bucket.filledAt) / 1_000) * perSecond);
    bucket.filledAt = now;
  }

  function filledBucket(tokenId: string): Bucket {
    const now = clock();
    sweep(now);
    const bucket = buckets.get(tokenId) ?? { level: burst, filledAt: now, unsettled: 0 };
    buckets.set(tokenId, bucket);
    fill(bucket, now);
    return bucket;
  }

  const secondsUntil = (level: number, wanted: number): number =>
    level >= wanted - rounding ? 0 : Math.max(1, Math.ceil((wanted - level) / perSecond - rounding));

  const headersAt = (level: number): Headers => ({
    'ratelimit-policy': policy,
    ratelimit: `"token";r=${Math.max(0, Math.floor(level + rounding))};t=${secondsUntil(level, 1)}`,
  });

  return {
    admit(tokenId) {
      const bucket = filledBucket(tokenId);
      const retryAfterSeconds = secondsUntil(bucket.level, 1);
      if (retryAfterSeconds > 0) return { kind: 'refused', headers: headersAt(bucket.level), retryAfterSeconds };
      bucket.level = Math.max(0, bucket.level - 1);
      return { kind: 'admitted', headers: headersAt(bucket.level) };
    },
    admitRelease(tokenId) {
      const bucket = filledBucket(tokenId);
      // Many that come at once must not each take the others for free.
      const untilAllowed = secondsUntil(bucket.level - bucket.unsettled, floor + 1);
      if (untilAllowed > 0) {
        const headers = headersAt(bucket.level);
        // A refusal is not charged, as with any other request; and what is let in has shown a lock that it releases.
        return { retryAfterSeconds: untilAllowed, headers, waive: () => headers, settle: () => undefined };
      }
      bucket.unsettled += 1;
      let charged = true;
      return {
        retryAfterSeconds: null,
        headers: headersAt(bucket.level - 1),
        waive() {
          charged = false;
          fill(bucket, clock());
          return headersAt(bucket.level);
        },
        settle() {
          bucket.unsettled -= 1;
          if (!charged) return;
          fill(bucket, clock());
          bucket.level = Math.max(floor, bucket.level - 1);
        },
      };
    },
  };
}
