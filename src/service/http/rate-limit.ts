import { type Admission, limitRate, type Rate } from '../runtime/limit-rate.ts';

export type RateLimit = Rate | null;

type Headers = Readonly<Record<string, string>>;

export type RateLimiter = ReturnType<typeof createRateLimiter>;

const free: Admission = { kind: 'admitted', refund: () => undefined };

/** `clock` counts milliseconds. */
export function createRateLimiter(limit: RateLimit, clock: () => number) {
  if (limit === null) return { admit: () => free, admitRelease: () => free, headersOf: (): Headers => ({}) };
  const { perSecond, burst } = limit;
  const { admit, remaining } = limitRate(limit, clock);
  return {
    admit: (tokenId: string) => admit(tokenId),
    /**
     * Releasing a lock of the token's own owner is free: it must be refunded, and must not be refused. A token has a
     * second burst for releases, so that few of them need proof of that beforehand.
     */
    admitRelease: (tokenId: string) => admit(tokenId, -burst),
    headersOf(tokenId: string): Headers {
      const { charges, seconds } = remaining(tokenId);
      return {
        'ratelimit-policy': `"token";q=${burst};w=${Math.ceil(burst / perSecond)}`,
        ratelimit: `"token";r=${charges};t=${seconds}`,
      };
    },
  };
}
