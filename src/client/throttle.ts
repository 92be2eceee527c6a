import type { Clock } from './clock.ts';
import { backoff } from './retry.ts';

export type Throttle = ReturnType<typeof createThrottle>;

/** Holds back all requests of a client after one was refused with 429: the limit applies to its token. */
export function createThrottle(random: () => number) {
  let refusedUntil = Number.NEGATIVE_INFINITY;
  let refusedAt = Number.NEGATIVE_INFINITY;
  /** Requests refused together count as one refusal and share one random delay. */
  let sharedJitter = 0;
  let refusals = 0;

  return {
    /** The end of the pause after a refusal; in the past if there is none. */
    refusedUntil: (): number => refusedUntil,

    onRefusal(sentAt: number, retryAfterMs: number | undefined, now: number): void {
      if (sentAt >= refusedAt) {
        refusedAt = now;
        refusals += 1;
        sharedJitter = random();
      }
      refusedUntil = Math.max(refusedUntil, now + backoff(refusals, retryAfterMs, () => sharedJitter));
    },

    /** Records any other response. */
    onUnlimited(): void {
      refusals = 0;
    },
  };
}

export type Admission =
  | { readonly kind: 'admitted'; readonly release: () => void }
  | { readonly kind: 'aborted' }
  /** The service refuses all requests until after the deadline. */
  | { readonly kind: 'too-late'; readonly delayMs: number };

interface AdmissionOptions {
  readonly maxConnections: number;
  readonly throttle: Throttle;
  readonly clock: Clock;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

interface AdmissionRequest {
  /** Whether the request waits for the rate limit. */
  readonly throttled: boolean;
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** Admits as many requests at once as there are connections, and none while the service refuses them. */
export function createAdmission({ maxConnections, throttle, clock, sleep }: AdmissionOptions) {
  const enterConnection = createSemaphore(maxConnections);

  return async ({ throttled, deadline, signal }: AdmissionRequest): Promise<Admission> => {
    while (!signal.aborted) {
      const release = await enterConnection(signal);
      if (release === undefined) break;
      const now = clock();
      const delayMs = throttled ? throttle.refusedUntil() - now : 0;
      if (delayMs <= 0) return { kind: 'admitted', release };
      // Requests that are not throttled may use the connection meanwhile.
      release();
      if (now + delayMs >= deadline) return { kind: 'too-late', delayMs };
      await sleep(delayMs, signal);
    }
    return { kind: 'aborted' };
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
