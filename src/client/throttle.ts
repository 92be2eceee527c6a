import { backoff } from './backoff.ts';
import type { RateLimitStatus } from './rate-limit.ts';

/**
 * When the next request may be sent to a service that limits requests. Whoever asks gives the time. The limit is that of
 * a token, which other processes may use too: what remains can shrink faster than this client sends.
 */
export interface Throttle {
  /** How long the next request has to wait; 0 lets it go. It is an estimate, and after a refusal the service's word. */
  delayMs(now: number): number;
  /** Until when the service has refused everything; in the past where it has not. */
  refusedUntil(): number;
  sent(now: number): void;
  /** A request that was sent is over, whatever came of it. */
  ended(): void;
  /** It was not refused for the limit. */
  served(): void;
  /** What an answer says, to whatever request. */
  saw(status: RateLimitStatus, now: number): void;
  /** A request was refused with 429: all wait. Gives for how long. */
  refused(sentAt: number, retryAfterMs: number | undefined, now: number): number;
}

/** So few left are spread: as many as two clients have under way at once, or as come back in a second. */
const minReserve = 32;
const reserveMs = 1_000;
/** Of a small quota, a part. */
const maxReserveShare = 1 / 4;

const maxSpacingMs = 5_000;
/** Between requests after a refusal, where nothing says how many would be taken. */
const blindSpacingMs = 200;

/** Multiplicative decrease of the pace with each refusal, and a slow return: the share of others is not known. */
const maxCaution = 4;
const cautionPerRefusal = 2;
const cautionPerAnswer = 0.97;

/** Those who were told the same time do not come back at the same moment. */
const spreadMs = 250;

export function createThrottle(random: () => number): Throttle {
  let policy: RateLimitStatus['policy'];
  /** What the last answer said, less what it may not have counted yet. What comes back meanwhile is not reckoned with. */
  let remaining: number | undefined;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let refusedUntil = Number.NEGATIVE_INFINITY;
  let refusedAt = Number.NEGATIVE_INFINITY;
  /** Of those that are refused together, which is one refusal, all draw the same. */
  let drawn = 0;
  let refusals = 0;
  let caution = 1;
  let lastSentAt = Number.NEGATIVE_INFINITY;
  let underWay = 0;

  /** Little remains: requests are spread so that what is used comes back meanwhile, the wider the less remains. */
  function spacingMs(): number {
    if (policy === undefined || remaining === undefined) return blindSpacingMs * (caution - 1);
    const { quota, windowMs } = policy;
    const perMs = quota / windowMs;
    const reserve = caution * Math.min(quota * maxReserveShare, Math.max(minReserve, perMs * reserveMs));
    if (remaining >= reserve) return 0;
    return Math.min(caution * maxSpacingMs, reserve / (perMs * Math.max(1, remaining)));
  }

  return {
    delayMs: (now) => Math.max(0, Math.max(refusedUntil, pausedUntil, lastSentAt + spacingMs()) - now),
    refusedUntil: () => refusedUntil,

    sent(now) {
      lastSentAt = now;
      underWay += 1;
      if (remaining !== undefined) remaining -= 1;
    },

    ended() {
      underWay -= 1;
    },

    served() {
      refusals = 0;
      caution = Math.max(1, caution * cautionPerAnswer);
    },

    saw(status, now) {
      policy = status.policy ?? policy;
      // The service may not have counted yet what is under way.
      remaining = status.remaining - underWay;
      const { resetMs = 0 } = status;
      pausedUntil = status.remaining === 0 && resetMs > 0 ? now + resetMs + random() * spreadMs : now;
    },

    refused(sentAt, retryAfterMs, now) {
      if (sentAt >= refusedAt) {
        refusedAt = now;
        refusals += 1;
        caution = Math.min(maxCaution, caution * cautionPerRefusal);
        drawn = random();
      }
      if (remaining !== undefined) remaining = Math.min(remaining, 0);
      refusedUntil = Math.max(refusedUntil, now + backoff(refusals, retryAfterMs, () => drawn));
      return refusedUntil - now;
    },
  };
}
