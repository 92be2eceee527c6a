/** Requests a second, each token for itself; null for no limit. */
export type RateLimit = { readonly perSecond: number; readonly burst: number } | null;

export type Admission =
  | { readonly kind: 'admitted'; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly kind: 'refused';
      readonly headers: Readonly<Record<string, string>>;
      readonly retryAfterSeconds: number;
    };

interface Bucket {
  level: number;
  filledAt: number;
}

/** What rounding may take from a token: who has waited as long as Retry-After said is let in. */
const rounding = 1e-9;

/** A full bucket says nothing that a new one does not, so buckets that have filled up again are dropped. */
const bucketsBeforeSweep = 10_000;

/** A token bucket for each API token, in the memory of this instance. `clock` counts milliseconds. */
export function createRateLimiter(limit: RateLimit, clock: () => number): (tokenId: string) => Admission {
  if (limit === null) return () => ({ kind: 'admitted', headers: {} });
  const { perSecond, burst } = limit;
  const secondsToFill = Math.ceil(burst / perSecond);
  const policy = `"token";q=${burst};w=${secondsToFill}`;
  const buckets = new Map<string, Bucket>();

  let sweptAt = clock();

  function sweep(now: number): void {
    const fullBefore = now - secondsToFill * 1_000;
    // Sooner there is nothing to find, and looking for it would take the longer the more tokens there are.
    if (buckets.size <= bucketsBeforeSweep || sweptAt > fullBefore) return;
    sweptAt = now;
    for (const [id, bucket] of buckets) {
      if (bucket.filledAt < fullBefore) buckets.delete(id);
    }
  }

  return (tokenId) => {
    const now = clock();
    sweep(now);
    const bucket = buckets.get(tokenId) ?? { level: burst, filledAt: now };
    buckets.set(tokenId, bucket);
    bucket.level = Math.min(burst, bucket.level + ((now - bucket.filledAt) / 1_000) * perSecond);
    bucket.filledAt = now;
    const admitted = bucket.level >= 1 - rounding;
    if (admitted) bucket.level = Math.max(0, bucket.level - 1);
    const remaining = Math.floor(bucket.level);
    const untilNext = remaining >= 1 ? 0 : Math.max(1, Math.ceil((1 - bucket.level) / perSecond));
    const headers = { 'ratelimit-policy': policy, ratelimit: `"token";r=${remaining};t=${untilNext}` };
    return admitted ? { kind: 'admitted', headers } : { kind: 'refused', headers, retryAfterSeconds: untilNext };
  };
}
