import type { Client } from '../client/client.ts';
import { maxConnections } from '../client/connection.ts';
import { isSameLock, type KnownLock } from '../client/known-lock.ts';
import type { EndLeaseResult } from '../client/leases.ts';
import type { CallLimits } from '../client/request.ts';
import type { Clock } from '../client/time.ts';
import type { Entry, LeaseIntent } from './ledger/entry.ts';
import type { Recorder } from './ledger/ledger.ts';
import type { OurLock, OwnLock } from './ownership.ts';

interface EndContext {
  readonly client: Pick<Client, 'endLease' | 'listLease' | 'serverNow'>;
  readonly record: Recorder;
  readonly clock: Clock;
}

/** Ends a lease, even if its request has not arrived yet. Can be repeated. */
export async function endLease(
  { client, record }: Omit<EndContext, 'clock'>,
  { service, workspace, step, lease }: Pick<LeaseIntent, 'service' | 'workspace' | 'step' | 'lease'>,
  within: CallLimits,
): Promise<EndLeaseResult> {
  const end = await client.endLease({ workspace, lease }, within);
  const at = new Date(client.serverNow()).toISOString();
  if (end.kind === 'ended') record({ kind: 'lease-ended', service, workspace, step, lease, at });
  return end;
}

/** Returns a function for how each of our locks ended with its lease. Lost locks do not count as released. */
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

/** If the lookup takes longer, the locks are released one by one, which needs most of the time. */
const maxLookupMs = 10_000;

/**
 * Ends a lease with one request if these locks include all that it holds. Returns how each of these locks ended.
 * Undefined if the lease also holds others, such as a lease of another job may, or if that is unknown.
 */
export async function endWholeLease(
  { client, record, clock }: EndContext,
  { service, workspace, lease }: Pick<LeaseIntent, 'service' | 'workspace' | 'lease'>,
  locks: readonly OurLock[],
  within: CallLimits,
) {
  // Requests for this few locks are all sent at once anyway.
  if (locks.length <= maxConnections) return undefined;
  const proofs = new Map<string, OwnLock>(locks.map(({ grant }) => [grant.path, grant.lock]));
  const look = { ...within, deadline: Math.min(within.deadline, clock() + maxLookupMs) };
  const list = await client.listLease({ workspace, lease }, look).catch(() => undefined);
  const isHeld = (lock: KnownLock): boolean => isSameLock(proofs.get(lock.path) ?? {}, lock) === true;
  // The service may not know a lease that has ended, or may report its locks as released by this request.
  if (list === undefined || list.items.length === 0 || !list.items.every(isHeld)) return undefined;
  const at = new Date(client.serverNow()).toISOString();
  const releasing = ({ grant: { path, key, lock } }: OurLock, failed?: true): Entry => {
    return { kind: 'releasing', service, workspace, path, id: lock.id, etag: lock.etag, key, failed, at };
  };
  // Recorded, so that a concurrent renewal does not report them as lost.
  record(...locks.map((lock) => releasing(lock)));
  const end = await endLease({ client, record }, { service, workspace, step: lease, lease }, within);
  if (end.kind !== 'ended') {
    if (!end.mayBeDone) record(...locks.map((lock) => releasing(lock, true)));
    return (lock: OurLock) => ({ lock, end });
  }
  const lost = new Set(end.lost.flatMap(({ path, holder }) => (holder ? path : [])));
  // A later step must not take the loss of a lock that was handed over for a release by this job.
  const isReported = ({ grant }: OurLock): boolean => grant.key === undefined && lost.has(grant.path);
  record(...locks.filter(isReported).map((lock) => releasing(lock, true)));
  return endsInLease(end);
}
