import { type Admission, limitRate, type Rate } from '../runtime/limit-rate.ts';

/** Requests per second of each token; null for no limit. */
export type RateLimit = Rate | null;

type Headers = Readonly<Record<string, string>>;

export interface RateLimiter {
  admit(tokenId: string): Admission;
  /**
   * Releasing a lock of the token's own owner is free: it must be refunded, and must not be refused. A token has a
   * second burst for releases, so that few of them need proof of that beforehand.
   */
  admitRelease(tokenId: string): Admission;
  headersOf(tokenId: string): Headers;
}

const free: Admission = { kind: 'admitted', refund: () => undefined };

const unlimited: RateLimiter = { admit: () => free, admitRelease: () => free, headersOf: () => ({}) };

/** `clock` counts milliseconds. */
export function createRateLimiter(limit: RateLimit, clock: () => number): RateLimiter {
  if (limit === null) return unlimited;
  const { perSecond, burst } = limit;
  const { admit, remaining } = limitRate(limit, clock);
  return {
    admit: (tokenId) => admit(tokenId),
    admitRelease: (tokenId) => admit(tokenId, -burst),
    headersOf(tokenId) {
      const { charges, seconds } = remaining(tokenId);
      return {
        'ratelimit-policy': `"token";q=${burst};w=${Math.ceil(burst / perSecond)}`,
        ratelimit: `"token";r=${charges};t=${seconds}`,
      };
    },
  };
}
