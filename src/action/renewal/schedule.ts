import { type Clock, withJitter } from '../../client/client.ts';
import type { Ttl } from '../../interface/ttl.ts';
import type { Grant } from '../ledger/entry.ts';

interface ScheduleContext {
  readonly clock: Clock;
  readonly serverNow: Clock;
  readonly random: () => number;
}

/** The time of a renewal after the end of a lock: only its response shows that the lock is lost. */
const minAttemptMs = 1_000;

const maxPauseMs = 5_000;

/** When each lock is to be renewed: after a third of its lifetime, and again at once if a renewal was not answered. */
export function createSchedule({ clock, serverNow, random }: ScheduleContext, ttl: Ttl, requestTimeoutMs: number) {
  const ttlMs = ttl.seconds * 1_000;
  /** By the keys of the requests that were granted. */
  const dueAt = new Map<string, number>();
  const msLeft = (grant: Grant): number => Date.parse(grant.lock.expires_at) - serverNow();

  function msUntilDue(grant: Grant): number {
    const due = dueAt.get(grant.key);
    if (due !== undefined) return due - clock();
    const lifetime = Date.parse(grant.lock.expires_at) - Date.parse(grant.at);
    return msLeft(grant) - lifetime * (1 - partOver(random));
  }

  return {
    /** With a pause, so that locks with a short lifetime, or without an answer, are not renewed again and again. */
    msUntilNextRound(grants: readonly Grant[]): number {
      const untilFirst = grants.reduce((least, grant) => Math.min(least, msUntilDue(grant)), Number.POSITIVE_INFINITY);
      return Math.max(untilFirst, withJitter(Math.min(maxPauseMs, ttlMs / 20), random));
    },
    /** Until something else is known: one refusal must not hurry the renewal of all others. */
    dueNow: ({ key }: Grant): void => void dueAt.set(key, clock()),
    dueLater: ({ key }: Grant, lifetimeMs = ttlMs): void =>
      void dueAt.set(key, clock() + lifetimeMs * partOver(random)),
    deadlineOf(grant: Grant): number {
      const least = Math.max(minAttemptMs, Math.min(requestTimeoutMs, ttlMs / 3));
      // The pauses between attempts grow: the next round begins with short ones again, while there is time.
      const most = Math.min(msLeft(grant) - ttlMs / 20, ttlMs / 6);
      return clock() + Math.max(least, most);
    },
  };
}

/** How long to wait for one answer: what a silent service takes of a lock's time is missing when it is back. */
export const attemptMs = (ttlMs: number): number => Math.max(minAttemptMs, ttlMs / 12);

/** A third of the lifetime, or a little less, so that not all come at once. */
const partOver = (random: () => number): number => 1 / 3 - random() / 12;
