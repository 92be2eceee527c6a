import { maxConnections } from '../client/connection.ts';
import { isSameLock, type KnownLock } from '../client/known-lock.ts';
import type { EndLeaseResult } from '../client/leases.ts';
import type { CallLimits } from '../client/request.ts';
import type { LockContext } from './context.ts';
import type { Entry, LeaseIntent } from './ledger/entry.ts';
import type { OurLock, OwnLock } from './ownership.ts';

/** Ends a lease, even one whose request has not arrived yet. May be repeated. */
export async function endLease(
  { client, record }: Pick<LockContext, 'client' | 'record'>,
  { service, workspace, step, lease }: Pick<LeaseIntent, 'service' | 'workspace' | 'step' | 'lease'>,
  within: CallLimits,
): Promise<EndLeaseResult> {
  const end = await client.endLease({ workspace, lease }, within);
  const at = new Date(client.serverNow()).toISOString();
  if (end.kind === 'ended') record({ kind: 'lease-ended', service, workspace, step, lease, at });
  return end;
}

/** Returns how each of our locks ended when its lease did. A lock that was lost otherwise was not released by the job. */
export function endsInLease({ released, lost }: Extract<EndLeaseResult, { readonly kind: 'ended' }>) {
  const releasedPaths = new Set(released);
  const losses = new Map(lost.map((one) => [one.path, one]));
  return <Lock extends OurLock>(lock: Lock) => {
    const { path } = lock.grant;
    if (releasedPaths.has(path)) return { lock, end: { kind: 'released' } } as const;
    const { reason, holder } = losses.get(path) ?? {};
    const mayBeReleased = lock.mayBeReleased && reason === 'released';
    const end = holder === undefined ? ({ kind: 'absent' } as const) : ({ kind: 'other', holder } as const);
    return { lock: { ...lock, mayBeReleased }, end };
  };
}

/** If nothing answers, the locks are released one by one, which needs most of the time. */
const maxLookupMs = 10_000;

/**
 * Ends a lease with one request if all locks that it holds are among these. Returns how each of these ended. Undefined
 * if the lease holds others, as one of another job may, or if that is unknown.
 */
export async function endWholeLease(
  { client, record, clock }: Pick<LockContext, 'client' | 'record' | 'clock'>,
  { service, workspace, lease }: Pick<LeaseIntent, 'service' | 'workspace' | 'lease'>,
  locks: readonly OurLock[],
  within: CallLimits,
) {
  // Requests for fewer locks are all sent at once.
  if (locks.length <= maxConnections) return undefined;
  const proofs = new Map<string, OwnLock>(locks.map(({ grant }) => [grant.path, grant.lock]));
  const look = { ...within, deadline: Math.min(within.deadline, clock() + maxLookupMs) };
  const list = await client.listLease({ workspace, lease }, look).catch(() => undefined);
  const isHeld = (lock: KnownLock): boolean => isSameLock(proofs.get(lock.path) ?? {}, lock) === true;
  // A lease that has ended may be unknown to the service, or reported as released by this request.
  if (list === undefined || list.items.length === 0 || !list.items.every(isHeld)) return undefined;
  const at = new Date(client.serverNow()).toISOString();
  const releasing = locks.map(({ grant: { path, key, lock } }): Entry => {
    return { kind: 'releasing', service, workspace, path, id: lock.id, etag: lock.etag, key, at };
  });
  // A renewal at the same time must not report them as lost.
  record(...releasing);
  const end = await endLease({ client, record }, { service, workspace, step: lease, lease }, within);
  return end.kind === 'ended' ? endsInLease(end) : (lock: OurLock) => ({ lock, end });
}
