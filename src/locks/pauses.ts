import type { Conflicts } from '../client/post-lock.ts';
import { withJitter } from '../client/time.ts';
import type { AcquireRound } from './path-by-path.ts';
import type { LockContext } from './release.ts';

export type Unsuccessful = Extract<AcquireRound, { kind: 'held' | 'failed' }>;

/** Services delay a response for at most this long, and proxies cut connections that are idle for a minute. */
const maxWaitSeconds = 30;

/** If a waiting request gets a response faster than this, the service probably did not wait, or is stopping. */
const quickMs = 1_000;

/**
 * After this many waits without effect, a step only polls. Some services or gateways claim to support waiting, but do
 * not. A stopping service answers all waiting requests with their places, so a response without a place counts more.
 */
const maxVain = 10;
const vainWithoutPlace = 4;

/** With these pauses, a step notices within 300 ms that the service is back, in the first ten minutes of an outage. */
const minReconnectMs = 200;
const maxReconnectMs = 5_000;
const promptMs = 10 * 60_000;

/** A client that comes back later than the service asked is overtaken. The service allows for a round trip. */
const inLineJitterMs = 100;

/** How long the next request of a waiting step stays in line, and the pause before it. */
export function createPauses({ clock, sleep, random, signal }: LockContext, deadline: number) {
  let hasLine = false;
  let vain = 0;
  let polls = 0;
  /** Time of the first failure since the last response of the service. */
  let failingSince: number | undefined;
  const outageMs = (): number => (failingSince === undefined ? 0 : clock() - failingSince);
  /** After ten minutes, in proportion to the outage, because a step may wait for a month. */
  const reconnectMs = (): number => Math.min(maxReconnectMs, minReconnectMs * Math.max(1, outageMs() / promptMs));

  function waitSeconds(): number {
    if (!hasLine || vain > maxVain) return 0;
    return Math.max(0, Math.min(maxWaitSeconds, Math.floor((deadline - clock()) / 1_000)));
  }

  const pause = (ms: number, reservedMs: number): Promise<void> =>
    sleep(Math.min(ms, deadline - reservedMs - clock()), signal);

  const reconnect = (reservedMs: number, atLeastMs = 0): Promise<void> =>
    pause(Math.max(atLeastMs, withJitter(reconnectMs(), random)), reservedMs);

  return {
    waitSeconds,
    maxReconnectMs: reconnectMs,
    /** Whether to log the reason for waiting. An outage is logged only once. */
    isNews({ kind }: Unsuccessful): boolean {
      const isNews = kind === 'held' || failingSince === undefined;
      failingSince = kind === 'held' ? undefined : (failingSince ?? clock());
      return isNews;
    },
    /** `seconds` is the wait that the attempt requested, and `reservedMs` the time to reserve for the last attempt. */
    async after(round: Unsuccessful, seconds: number, tookMs: number, reservedMs: number): Promise<void> {
      const [conflict] = round.kind === 'held' ? round.conflicts : [];
      const hasTimedOut = round.kind === 'failed' && round.error.failure.kind === 'timeout';
      const isVain = seconds > 0 && (tookMs < quickMs || hasTimedOut);
      if (isVain) vain += conflict?.queue === undefined ? vainWithoutPlace : 1;
      else if (seconds > 0 && conflict !== undefined) vain = 0;
      hasLine = conflict?.hasWaited === true;
      if (round.kind === 'failed') return reconnect(reservedMs, round.error.failure.retryAfterMs);
      if (waitSeconds() === 0) {
        const retryAfterMs = soonestRetryMs(round.conflicts);
        if (conflict?.queue !== undefined && retryAfterMs !== undefined) {
          return pause(retryAfterMs + random() * inLineJitterMs, reservedMs);
        }
        polls += 1;
        return pause(pauseMs(polls, retryAfterMs, random), reservedMs);
      }
      if (isVain) await reconnect(reservedMs);
    },
  };
}

const firstPauseMs = 1_000;
const maxPauseMs = 10_000;
const growth = 1.5;

/** Randomized, because the service may send the same retry time to all clients of a path. */
function pauseMs(polls: number, retryAfterMs = 0, random: () => number): number {
  const backoff = Math.min(maxPauseMs, firstPauseMs * growth ** (polls - 1));
  return Math.max(backoff / 2, retryAfterMs) + (random() * Math.max(backoff, retryAfterMs)) / 2;
}

/** The time until the first of the paths may be free. */
function soonestRetryMs(conflicts: Conflicts): number | undefined {
  const asked = conflicts.flatMap(({ error }) => error.failure.retryAfterMs ?? []);
  return asked.length === 0 ? undefined : Math.min(...asked);
}
