import { withJitter } from '../../client/client.ts';
import type { Ttl } from '../../interface/ttl.ts';
import type { LockContext } from '../context.ts';
import type { Grant } from '../ledger/entry.ts';
import type { Lifetimes } from './lifetimes.ts';

type ScheduleContext = Pick<LockContext, 'clock' | 'random'>;

/** The minimum time for a renewal, even after the lock has expired: only a response shows that the lock is lost. */
const minAttemptMs = 1_000;

const maxPauseMs = 5_000;

/** Schedules the renewal of each lock: after a third of its lifetime, and again after a pause if there was no response. */
export function createSchedule(
  { clock, random }: ScheduleContext,
  ttl: Ttl,
  requestTimeoutMs: number,
  { lifetimeOf, remainingMs }: Lifetimes,
) {
  const ttlMs = ttl.seconds * 1_000;
  /** By the idempotency key of the request that acquired the lock. */
  const dueAt = new Map<string, number>();

  function msUntilDue(grant: Grant): number {
    const due = dueAt.get(grant.key);
    if (due !== undefined) return due - clock();
    return remainingMs(grant) - lifetimeOf(grant) * (1 - renewalFraction(random));
  }

  return {
    /** At least a pause, so that short-lived locks and unanswered renewals are not renewed in a tight loop. */
    msUntilNextRound(grants: readonly Grant[]): number {
      const untilFirst = grants.reduce((least, grant) => Math.min(least, msUntilDue(grant)), Number.POSITIVE_INFINITY);
      return Math.max(untilFirst, withJitter(Math.min(maxPauseMs, ttlMs / 20), random));
    },
    /**
     * Due until `dueLater` postpones it. A refused renewal is also postponed: it must not hurry that of all other
     * locks.
     */
    dueNow: ({ key }: Grant): void => void dueAt.set(key, clock()),
    dueLater: (grant: Grant): void => void dueAt.set(grant.key, clock() + lifetimeOf(grant) * renewalFraction(random)),
    deadlineOf(grant: Grant): number {
      const least = Math.max(minAttemptMs, Math.min(requestTimeoutMs, ttlMs / 3));
      // Pauses between attempts grow. The next round starts with short ones again, while there is time.
      const most = Math.min(remainingMs(grant) - ttlMs / 20, ttlMs / 6);
      return clock() + Math.max(least, most);
    },
  };
}

/** Timeout of one attempt. It is short: the time spent on a silent service is missing when it is back. */
export const attemptMs = (ttlMs: number): number => Math.max(minAttemptMs, ttlMs / 12);

/** A third of the lifetime or a little less, so that not all locks are due at once. */
const renewalFraction = (random: () => number): number => 1 / 3 - random() / 12;
