import type { Client } from '../../client/client.ts';
import { withJitter } from '../../client/time.ts';
import type { Ttl } from '../../interface/duration.ts';
import { type Grant, lifetimeMs } from '../ledger/entry.ts';
import type { LockContext } from '../release.ts';

interface ScheduledLocks {
  readonly ttl: Ttl;
  /** Timeout of one attempt. */
  readonly requestTimeoutMs: number;
  /** The time since the locks were granted. */
  readonly ageMs: number;
}

export type Schedule = ReturnType<typeof createSchedule>;

/** Minimum time for a renewal, even after the lock has expired, because only a response shows that a lock is lost. */
const minAttemptMs = 1_000;

const maxPauseMs = 5_000;

/**
 * How long the locks of a step last, and when to renew them: all of them after a third of the shortest lifetime, and
 * again after a pause if a renewal gets no response.
 */
export function createSchedule(
  { clock, random, client }: Pick<LockContext, 'clock' | 'random'> & { readonly client: Pick<Client, 'serverNow'> },
  { ttl, requestTimeoutMs, ageMs }: ScheduledLocks,
) {
  const ttlMs = ttl.seconds * 1_000;
  const grantedAt = clock() - ageMs;
  /** By lease, or by the idempotency key of the request that acquired the lock. */
  const renewals = new Map<string, { readonly renewedAt: number; readonly lifetimeMs: number }>();
  let dueAt: number | undefined;

  const renewalOf = (grant: Grant) =>
    renewals.get(grant.lock.lease ?? grant.key) ?? { renewedAt: grantedAt, lifetimeMs: lifetimeMs(grant, ttl) };

  const remainingMs = (grant: Grant): number => renewalOf(grant).renewedAt + renewalOf(grant).lifetimeMs - clock();

  /** A third of the shortest lifetime or slightly less, so that the jobs of a service do not all renew at once. */
  const thirdOf = (grants: readonly Grant[]): number =>
    grants.reduce((least, grant) => Math.min(least, renewalOf(grant).lifetimeMs), Number.POSITIVE_INFINITY) *
    (1 / 3 - random() / 12);

  return {
    remainingMs,
    /** At least a short pause, to avoid a tight loop for short-lived locks and unanswered renewals. */
    msUntilNextRound(grants: readonly Grant[]): number {
      dueAt ??= grantedAt + thirdOf(grants);
      return Math.max(dueAt - clock(), withJitter(Math.min(maxPauseMs, ttlMs / 20), random));
    },
    /** A refused renewal does not bring the next round forward, because that round includes all other locks. */
    roundEnded(startedAt: number, grants: readonly Grant[], isAnswered: boolean): void {
      dueAt = isAnswered ? startedAt + thirdOf(grants) : startedAt;
    },
    deadlineOf(grant: Grant): number {
      const least = Math.max(minAttemptMs, Math.min(requestTimeoutMs, ttlMs / 3));
      // Pauses between attempts grow. If there is time, the next round starts with short ones again.
      const most = Math.min(remainingMs(grant) - ttlMs / 20, ttlMs / 6);
      return clock() + Math.max(least, most);
    },
    /** Called with the response to the renewal of a lock or a lease. */
    renewed({ key, lock }: Grant, expires_at: string): void {
      const at = new Date(client.serverNow()).toISOString();
      const lifetime = lifetimeMs({ at, lock: { ...lock, expires_at } }, ttl);
      renewals.set(lock.lease ?? key, { renewedAt: clock(), lifetimeMs: lifetime });
    },
  };
}

/** Timeout of one attempt. Short, because time spent waiting for a silent service is lost once it is back. */
export const attemptMs = (ttlMs: number): number => Math.max(minAttemptMs, ttlMs / 12);
