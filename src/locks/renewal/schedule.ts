import type { Client } from '../../client/client.ts';
import { withJitter } from '../../client/time.ts';
import type { Ttl } from '../../interface/duration.ts';
import type { LockContext } from '../context.ts';
import { type Grant, lifetimeMs } from '../ledger/entry.ts';

interface LifetimeContext extends Pick<LockContext, 'clock'> {
  readonly client: Pick<Client, 'serverNow'>;
}

export type Lifetimes = ReturnType<typeof createLifetimes>;

/** Tracks the lifetimes of renewed locks. `ageMs` is the time since the locks were granted. */
export function createLifetimes({ clock, client }: LifetimeContext, ttl: Ttl, ageMs: number) {
  const grantedAt = clock() - ageMs;
  /** By the idempotency key of the request that acquired the lock. */
  const renewals = new Map<string, { readonly renewedAt: number; readonly lifetimeMs: number }>();

  const lifetimeOf = (grant: Grant): number => renewals.get(grant.key)?.lifetimeMs ?? lifetimeMs(grant, ttl);

  return {
    lifetimeOf,
    remainingMs: (grant: Grant): number =>
      (renewals.get(grant.key)?.renewedAt ?? grantedAt) + lifetimeOf(grant) - clock(),
    /** Called with the response to a renewal. */
    renewed({ key, lock }: Grant, expires_at: string): void {
      const at = new Date(client.serverNow()).toISOString();
      renewals.set(key, { renewedAt: clock(), lifetimeMs: lifetimeMs({ at, lock: { ...lock, expires_at } }, ttl) });
    },
  };
}

/** The minimum time for a renewal, even after the lock has expired: only a response shows that the lock is lost. */
const minAttemptMs = 1_000;

const maxPauseMs = 5_000;

/** All locks of a step are renewed after a third of the shortest lifetime, and again after a pause if one has no response. */
export function createSchedule(
  { clock, random }: Pick<LockContext, 'clock' | 'random'>,
  ttl: Ttl,
  requestTimeoutMs: number,
  { lifetimeOf, remainingMs }: Lifetimes,
) {
  const ttlMs = ttl.seconds * 1_000;
  let dueAt: number | undefined;

  /** A third of the shortest lifetime or a little less, so that the jobs of a service do not all come at once. */
  const untilDue = (grants: readonly Grant[], elapsedMs: (grant: Grant) => number): number =>
    grants.reduce(
      (least, grant) => Math.min(least, lifetimeOf(grant) * (1 / 3 - random() / 12) - elapsedMs(grant)),
      Number.POSITIVE_INFINITY,
    );

  return {
    /** At least a pause, so that short-lived locks and unanswered renewals are not renewed in a tight loop. */
    msUntilNextRound(grants: readonly Grant[]): number {
      dueAt ??= clock() + untilDue(grants, (grant) => lifetimeOf(grant) - remainingMs(grant));
      return Math.max(dueAt - clock(), withJitter(Math.min(maxPauseMs, ttlMs / 20), random));
    },
    /** A refused renewal is not repeated earlier: it must not hurry that of all other locks. */
    roundEnded(startedAt: number, grants: readonly Grant[], isAnswered: boolean): void {
      dueAt = isAnswered ? startedAt + untilDue(grants, () => 0) : startedAt;
    },
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
