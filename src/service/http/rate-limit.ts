/** Requests per second of each token; null for no limit. */
export type RateLimit = { readonly perSecond: number; readonly burst: number } | null;

type Headers = Readonly<Record<string, string>>;

export type Admission =
  | { readonly kind: 'admitted'; readonly headers: Headers }
  | { readonly kind: 'refused'; readonly headers: Headers; readonly retryAfterSeconds: number };

/** Releasing a lock of the token's own owner is free. All other outcomes are charged after the response. */
export interface ReleaseAdmission {
  /** Null: the request is admitted. Otherwise it is admitted only if it releases a lock of the same owner. */
  readonly retryAfterSeconds: number | null;
  /** Rate limit headers if the request is charged. */
  readonly headers: Headers;
  /** Must be called when a lock of the token's owner was released. Returns the headers without the charge. */
  waive(): Headers;
  /** Must be called after the response: applies the charge unless it was waived. */
  settle(): void;
}

export interface RateLimiter {
  admit(tokenId: string): Admission;
  admitRelease(tokenId: string): ReleaseAdmission;
}

interface Bucket {
  /** Below zero after release requests that released no lock of their owner. */
  level: number;
  filledAt: number;
  /** Number of pending releases that may still be charged. */
  unsettled: number;
}

/** Tolerance for rounding: a client that waited for Retry-After is admitted. */
const rounding = 1e-9;

/** Number of buckets at which full ones are dropped: they equal new ones. */
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
  /** Lowest level that release requests can reach. Below it, each must prove that the lock belongs to its owner. */
  const floor = -burst;
  const secondsToFill = Math.ceil(burst / perSecond);
  const policy = `"token";q=${burst};w=${secondsToFill}`;
  const buckets = new Map<string, Bucket>();

  let sweptAt = clock();

  function sweep(now: number): void {
    // Filling up from the floor to zero takes as long as from zero to full.
    const fullBefore = now - 2 * secondsToFill * 1_000;
    // An earlier sweep would find nothing, and its cost grows with the number of tokens.
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
      // Each pending release counts as charged, so that parallel requests cannot all pass for free.
      const untilAllowed = secondsUntil(bucket.level - bucket.unsettled, floor + 1);
      if (untilAllowed > 0) {
        const headers = headersAt(bucket.level);
        // Refusals are never charged, and an admitted request has proved that the release is free.
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
