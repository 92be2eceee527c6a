import { type Admission, limitRate, type Rate } from '../runtime/limit-rate.ts';

export type RateLimit = Rate | null;

type Headers = Readonly<Record<string, string>>;

export type RateLimiter = ReturnType<typeof createRateLimiter>;

const free: Admission = { kind: 'admitted', refund: () => undefined };

/** `clock` counts milliseconds. */
export function createRateLimiter(limit: RateLimit, clock: () => number) {
  if (limit === null) return { admit: () => free, headersOf: (): Headers => ({}) };
  const { perSecond, burst } = limit;
  const { admit, remaining } = limitRate(limit, clock);
  return {
    admit: (tokenId: string) => admit(tokenId),
    headersOf(tokenId: string): Headers {
      const { charges, seconds } = remaining(tokenId);
      return {
        'ratelimit-policy': `"token";q=${burst};w=${Math.ceil(burst / perSecond)}`,
        ratelimit: `"token";r=${charges};t=${seconds}`,
      };
    },
  };
}
