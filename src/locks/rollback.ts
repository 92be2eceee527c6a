import { type CallLimits, type EndLeaseResult, inParallel, type ServiceError } from '../client/client.ts';
import type { LockContext } from './context.ts';
import type { Grant, Intent, LeaseIntent } from './ledger/entry.ts';
import type { ReleaseResult } from './release.ts';
import type { LockSession } from './session.ts';

export interface RollbackResult {
  readonly releases: readonly { readonly grant: Grant; readonly result: ReleaseResult }[];
  /** Possibly granted; such locks stay until their ttl expires. `isAnswered`: repeating the request would not help. */
  readonly unanswered: readonly { readonly intent: Intent; readonly isAnswered: boolean }[];
}

export const nothing: RollbackResult = { releases: [], unanswered: [] };

export interface RollbackContext extends Pick<LockContext, 'client' | 'record'> {
  readonly session: LockSession;
}

/** Locks to release, and unanswered requests to repeat. */
interface UnsettledLocks {
  readonly acquired: readonly Grant[];
  readonly unanswered: readonly Intent[];
}

/** Time limit of a rollback. The post-step releases the rest. */
export const rollBackMs = 10_000;

export async function rollBackInTime(
  context: RollbackContext & Pick<LockContext, 'clock' | 'signal'>,
  taken: UnsettledLocks,
): Promise<RollbackResult> {
  return rollBack(context, taken, cleanupLimits(context.clock, rollBackMs, context.signal));
}

/** Releases the granted locks, and any that an unanswered request turns out to have acquired when it is repeated. */
export async function rollBack(
  context: RollbackContext,
  { acquired, unanswered }: UnsettledLocks,
  within: CallLimits,
): Promise<RollbackResult> {
  const { session } = context;
  const releases: { grant: Grant; result: ReleaseResult }[] = [];
  const stillUnanswered: RollbackResult['unanswered'][number][] = [];

  async function release(grant: Grant): Promise<void> {
    releases.push({ grant, result: await session.release(grant, within) });
  }

  async function settle(intent: Intent): Promise<void> {
    const result = await session.acquire(intent, within);
    if (result.kind === 'acquired') await release(result.grant);
    else if (result.kind === 'unanswered') {
      stillUnanswered.push({ intent, isAnswered: result.conflict !== undefined });
    }
  }

  const byLease = Map.groupBy(acquired, ({ lock }) => lock.lease);
  for (const [lease, grants] of byLease) {
    const [first] = grants;
    if (lease === undefined || first === undefined) continue;
    const end = await endLease(context, { ...first, lease }, within);
    const result: ReleaseResult =
      end.kind === 'ended' ? { kind: 'released' } : { kind: 'failed', error: end.error, mayBeDone: true };
    releases.push(...grants.map((grant) => ({ grant, result })));
  }
  await inParallel(byLease.get(undefined) ?? [], release);
  await inParallel(unanswered, settle);
  return { releases, unanswered: stillUnanswered };
}

/** Locks that may still exist, to be released later. */
export const remainingRollback = ({
  releases,
}: RollbackResult): readonly { readonly grant: Grant; readonly error: ServiceError }[] =>
  releases.flatMap(({ grant, result }) => (result.kind === 'failed' ? [{ grant, error: result.error }] : []));

/** Ends a lease, also one that would be granted later. May be repeated. */
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

/** A cancelled step must end within 5 s, and reporting and exiting take a part of that. */
const afterCancelMs = 3_500;

/** Ends of the time after a cancellation, which all cleanups of a step share. */
const ends = new WeakMap<AbortSignal, AbortSignal>();

/** Limits for a cleanup. It runs even if the step is cancelled, but is then short. */
export function cleanupLimits(clock: LockContext['clock'], timeMs: number, cancelled: AbortSignal): CallLimits {
  const signal = ends.get(cancelled) ?? endAfter(cancelled);
  ends.set(cancelled, signal);
  return { deadline: clock() + timeMs, signal };
}

function endAfter(cancelled: AbortSignal): AbortSignal {
  const end = new AbortController();
  const startCountdown = () => setTimeout(() => end.abort(), afterCancelMs).unref();
  if (cancelled.aborted) startCountdown();
  else cancelled.addEventListener('abort', startCountdown, { once: true });
  return end.signal;
}
