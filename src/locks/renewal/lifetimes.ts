import type { Ttl } from '../../interface/ttl.ts';
import type { LockContext } from '../context.ts';
import { type Grant, lifetimeMs } from '../ledger/entry.ts';

interface LifetimeContext extends Pick<LockContext, 'clock'> {
  readonly serverNow: () => number;
}

export type Lifetimes = ReturnType<typeof createLifetimes>;

/** Tracks the lifetimes of renewed locks. `ageMs` is the time since the locks were granted. */
export function createLifetimes({ clock, serverNow }: LifetimeContext, ttl: Ttl, ageMs: number) {
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
      const at = new Date(serverNow()).toISOString();
      renewals.set(key, { renewedAt: clock(), lifetimeMs: lifetimeMs({ at, lock: { ...lock, expires_at } }, ttl) });
    },
  };
}
