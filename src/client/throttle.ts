import type { Clock } from './clock.ts';
import type { RateLimitStatus } from './rate-limit.ts';
import { backoff, jitterMs } from './retry.ts';

/** Requests are spread out if no more than these remain: two clients' worth, or one second's refill. */
const minReserve = 32;
const reserveMs = 1_000;
/** The part of a small quota that is kept in reserve. */
const maxReserveShare = 1 / 4;

const maxSpacingMs = 5_000;
/** Pause between requests after a refusal without a known limit. */
const blindSpacingMs = 200;

/** Multiplicative decrease of the pace with each refusal, and a slow return: the share of others is not known. */
const maxCaution = 4;
const cautionPerRefusal = 2;
const cautionPerAnswer = 0.97;

/**
 * The time of the next request to a service that limits requests. The limit is that of a token, which other processes may use
 * too: the remaining quota can shrink faster than this client sends.
 */
export function createThrottle(random: () => number) {
  let policy: RateLimitStatus['policy'];
  /** What the last answer said, less what it may not have counted yet. What comes back meanwhile is not reckoned with. */
  let remaining: number | undefined;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let refusedUntil = Number.NEGATIVE_INFINITY;
  let refusedAt = Number.NEGATIVE_INFINITY;
  /** Requests refused together count as one refusal and share one random delay. */
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
    /** How long the next request has to wait; 0 lets it go. It is an estimate, and after a refusal the service's word. */
    delayMs: (now: number): number => Math.max(0, Math.max(refusedUntil, pausedUntil, lastSentAt + spacingMs()) - now),

    /** Until when the service has refused everything; in the past where it has not. */
    refusedUntil: (): number => refusedUntil,

    sent(now: number): void {
      lastSentAt = now;
      underWay += 1;
      if (remaining !== undefined) remaining -= 1;
    },

    /** A request has ended, with whatever result. */
    ended(): void {
      underWay -= 1;
    },

    /** It was not refused for the limit. */
    served(): void {
      refusals = 0;
      caution = Math.max(1, caution * cautionPerAnswer);
    },

    /** What an answer says, to whatever request. */
    observe(status: RateLimitStatus, now: number): void {
      policy = status.policy ?? policy;
      // The service may not have counted the requests under way yet.
      remaining = status.remaining - underWay;
      const { resetMs = 0 } = status;
      pausedUntil = status.remaining === 0 && resetMs > 0 ? now + resetMs + random() * jitterMs : now;
    },

    /** A request was refused with 429: all wait. Gives for how long. */
    refused(sentAt: number, retryAfterMs: number | undefined, now: number): number {
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

export type Throttle = ReturnType<typeof createThrottle>;

type Admission =
  | { readonly kind: 'admitted'; readonly release: () => void }
  /** The signal was aborted first. */
  | { readonly kind: 'aborted'; readonly limited: boolean }
  /** The service has refused everything until a time that is beyond the deadline. */
  | { readonly kind: 'too-late'; readonly delayMs: number };

interface AdmissionOptions {
  readonly maxConnections: number;
  readonly throttle: Throttle;
  readonly clock: Clock;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onThrottled: (delayMs: number) => void;
}

interface AdmissionRequest {
  /** Waits for the rate limit. */
  readonly throttled: boolean;
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** Admits requests: as many at once as there are connections, and as fast as the service takes them. */
export function createAdmission({ maxConnections, throttle, clock, sleep, onThrottled }: AdmissionOptions) {
  const enterConnection = createSemaphore(maxConnections);
  /** Only the first of those that are throttled waits for the time and for a connection; the others for their turn. */
  const enterQueue = createSemaphore(1);

  /** The pace is an estimate: a request that would run out of time for it asks the service instead. */
  function delayMs(deadline: number): number {
    const now = clock();
    const delay = throttle.delayMs(now);
    return now + delay < deadline ? delay : Math.max(0, throttle.refusedUntil() - now);
  }

  async function admitThrottled({ deadline, signal }: AdmissionRequest): Promise<Admission> {
    let limited = false;
    while (!signal.aborted) {
      const release = await enterConnection(signal);
      if (release === undefined) break;
      const delay = delayMs(deadline);
      if (delay === 0) {
        throttle.sent(clock());
        return { kind: 'admitted', release };
      }
      // Requests that are not throttled may use the connection meanwhile.
      release();
      if (clock() + delay >= deadline) return { kind: 'too-late', delayMs: delay };
      limited = true;
      if (throttle.refusedUntil() <= clock()) onThrottled(delay);
      await sleep(delay, signal);
    }
    return { kind: 'aborted', limited };
  }

  return async (request: AdmissionRequest): Promise<Admission> => {
    const { throttled, signal } = request;
    const release = await (throttled ? enterQueue : enterConnection)(signal);
    if (release === undefined) return { kind: 'aborted', limited: throttled && throttle.delayMs(clock()) > 0 };
    return throttled ? admitThrottled(request).finally(release) : { kind: 'admitted', release };
  };
}

/** At most `size` holders at once, others in order of arrival; undefined when the signal was aborted first. */
function createSemaphore(size: number): (signal: AbortSignal) => Promise<(() => void) | undefined> {
  let free = size;
  const waiting = new Set<() => void>();

  function release(): void {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  }

  return async (signal) => {
    if (signal.aborted) return undefined;
    if (free > 0) {
      free -= 1;
      return release;
    }
    return new Promise((resolve) => {
      const giveUp = (): void => {
        waiting.delete(enter);
        resolve(undefined);
      };
      const enter = (): void => {
        waiting.delete(enter);
        signal.removeEventListener('abort', giveUp);
        resolve(release);
      };
      waiting.add(enter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  };
}
