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

/**
 * Multiplicative decrease of the pace with each refusal, and a slow recovery: the share of other clients is unknown.
 */
const maxCaution = 4;
const cautionPerRefusal = 2;
const cautionPerAnswer = 0.97;

/**
 * Paces requests to a service with a rate limit. The limit applies to a token, which other processes may use too: the
 * remaining quota can shrink faster than this client sends.
 */
export function createThrottle(random: () => number) {
  let policy: RateLimitStatus['policy'];
  /**
   * The number that the last response reported, minus requests that it may not count yet. Quota that is restored
   * meanwhile is not included.
   */
  let remaining: number | undefined;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let refusedUntil = Number.NEGATIVE_INFINITY;
  let refusedAt = Number.NEGATIVE_INFINITY;
  /** Requests refused together count as one refusal and share one random delay. */
  let sharedJitter = 0;
  let refusals = 0;
  let caution = 1;
  let lastSentAt = Number.NEGATIVE_INFINITY;
  let inFlight = 0;

  /**
   * If little remains, requests are spread so that quota is restored meanwhile: the less remains, the longer the pause.
   */
  function spacingMs(): number {
    if (policy === undefined || remaining === undefined) return blindSpacingMs * (caution - 1);
    const { quota, windowMs } = policy;
    const perMs = quota / windowMs;
    const reserve = caution * Math.min(quota * maxReserveShare, Math.max(minReserve, perMs * reserveMs));
    if (remaining >= reserve) return 0;
    return Math.min(caution * maxSpacingMs, reserve / (perMs * Math.max(1, remaining)));
  }

  return {
    /**
     * How long the next request must wait; 0 to send it now. This is an estimate or, after a refusal, what the service
     * asked for.
     */
    delayMs: (now: number): number => Math.max(0, Math.max(refusedUntil, pausedUntil, lastSentAt + spacingMs()) - now),

    /** The end of the pause after a refusal; in the past if there is none. */
    refusedUntil: (): number => refusedUntil,

    onSend(now: number): void {
      lastSentAt = now;
      inFlight += 1;
      if (remaining !== undefined) remaining -= 1;
    },

    onEnd(): void {
      inFlight -= 1;
    },

    /** Records a response that is not a refusal because of the rate limit. */
    onUnlimited(): void {
      refusals = 0;
      caution = Math.max(1, caution * cautionPerAnswer);
    },

    observe(status: RateLimitStatus, now: number): void {
      policy = status.policy ?? policy;
      // The service may not have counted pending requests yet.
      remaining = status.remaining - inFlight;
      const { resetMs = 0 } = status;
      pausedUntil = status.remaining === 0 && resetMs > 0 ? now + resetMs + random() * jitterMs : now;
    },

    /** Records a refusal with 429: all requests must wait. */
    onRefusal(sentAt: number, retryAfterMs: number | undefined, now: number): void {
      if (sentAt >= refusedAt) {
        refusedAt = now;
        refusals += 1;
        caution = Math.min(maxCaution, caution * cautionPerRefusal);
        sharedJitter = random();
      }
      if (remaining !== undefined) remaining = Math.min(remaining, 0);
      refusedUntil = Math.max(refusedUntil, now + backoff(refusals, retryAfterMs, () => sharedJitter));
    },
  };
}

export type Throttle = ReturnType<typeof createThrottle>;

export type Admission =
  | { readonly kind: 'admitted'; readonly release: () => void }
  | { readonly kind: 'aborted'; readonly limited: boolean }
  /** The service refuses all requests until after the deadline. */
  | { readonly kind: 'too-late'; readonly delayMs: number };

interface AdmissionOptions {
  readonly maxConnections: number;
  readonly throttle: Throttle;
  readonly clock: Clock;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onThrottled?: ((delayMs: number) => void) | undefined;
}

interface AdmissionRequest {
  /** Whether the request waits for the rate limit. */
  readonly throttled: boolean;
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** Admits requests: as many at once as there are connections, and as fast as the service accepts them. */
export function createAdmission({ maxConnections, throttle, clock, sleep, onThrottled }: AdmissionOptions) {
  const enterConnection = createSemaphore(maxConnections);
  /** Only the first throttled request waits for its time and for a connection. The others wait in this queue. */
  const enterQueue = createSemaphore(1);

  /** The pace is an estimate: a request that would miss its deadline because of it is sent anyway. */
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
        throttle.onSend(clock());
        return { kind: 'admitted', release };
      }
      // Requests that are not throttled may use the connection meanwhile.
      release();
      if (clock() + delay >= deadline) return { kind: 'too-late', delayMs: delay };
      limited = true;
      if (throttle.refusedUntil() <= clock()) onThrottled?.(delay);
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

/** Allows at most `size` holders at once, and others in order of arrival. Undefined if the signal was aborted first. */
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
