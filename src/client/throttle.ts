import type { Clock } from './clock.ts';
import type { RateLimitStatus } from './rate-limit.ts';
import { backoff } from './retry.ts';

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

/** Lets the next one in. */
export type Leave = () => void;

/** Lets so many in at once; the others wait in the order in which they came. */
export function createGate(size: number): { enter(signal: AbortSignal): Promise<Leave | undefined> } {
  let free = size;
  const waiting = new Set<() => void>();

  function leaveOnce(): Leave {
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      const [next] = waiting;
      if (next === undefined) free += 1;
      else next();
    };
  }

  return {
    /** Undefined when the signal was aborted first. */
    async enter(signal) {
      if (signal.aborted) return undefined;
      if (free > 0) {
        free -= 1;
        return leaveOnce();
      }
      return new Promise((resolve) => {
        const giveUp = (): void => {
          waiting.delete(admit);
          resolve(undefined);
        };
        const admit = (): void => {
          waiting.delete(admit);
          signal.removeEventListener('abort', giveUp);
          resolve(leaveOnce());
        };
        waiting.add(admit);
        signal.addEventListener('abort', giveUp, { once: true });
      });
    },
  };
}

export type Admission =
  | { readonly kind: 'admitted'; readonly leave: Leave }
  /** The signal was aborted first. */
  | { readonly kind: 'ended'; readonly limited: boolean }
  /** The service has refused everything until a time that is beyond the deadline. */
  | { readonly kind: 'too-late'; readonly delayMs: number };

export interface AdmissionParts {
  readonly maxConnections: number;
  readonly throttle: Throttle;
  readonly clock: Clock;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** What little remains of a rate limit is spread: the next request waits for so long. */
  readonly onPaced: (delayMs: number) => void;
}

export interface Entrant {
  /** Waits for the rate limit. */
  readonly paced: boolean;
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** Lets requests to their connections: as many at once as there are, and as fast as the service will take them. */
export function createAdmission({ maxConnections, throttle, clock, sleep, onPaced }: AdmissionParts) {
  const connections = createGate(maxConnections);
  /** Only the first of those that are paced waits for the time and for a connection; the others for their turn. */
  const line = createGate(1);

  /** The pace is an estimate: who would run out of time for it asks the service instead. */
  function delayMs(deadline: number): number {
    const now = clock();
    const delay = throttle.delayMs(now);
    return now + delay < deadline ? delay : Math.max(0, throttle.refusedUntil() - now);
  }

  async function enterPaced({ deadline, signal }: Entrant): Promise<Admission> {
    let limited = false;
    while (!signal.aborted) {
      const leave = await connections.enter(signal);
      if (leave === undefined) break;
      const delay = delayMs(deadline);
      if (delay === 0) {
        throttle.sent(clock());
        return { kind: 'admitted', leave };
      }
      // What is not paced may have the connection meanwhile.
      leave();
      if (clock() + delay >= deadline) return { kind: 'too-late', delayMs: delay };
      limited = true;
      if (throttle.refusedUntil() <= clock()) onPaced(delay);
      await sleep(delay, signal);
    }
    return { kind: 'ended', limited };
  }

  return async (entrant: Entrant): Promise<Admission> => {
    const { paced, signal } = entrant;
    const leave = await (paced ? line : connections).enter(signal);
    if (leave === undefined) return { kind: 'ended', limited: paced && throttle.delayMs(clock()) > 0 };
    return paced ? enterPaced(entrant).finally(leave) : { kind: 'admitted', leave };
  };
}
