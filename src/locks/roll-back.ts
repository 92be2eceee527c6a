import { type CallLimits, inParallel, type ServiceError } from '../client/client.ts';
import { cleanupLimits } from './cleanup-limits.ts';
import type { LockContext } from './context.ts';
import type { Grant, Intent } from './ledger/entry.ts';
import type { ReleaseResult } from './release.ts';
import type { LockSession } from './session.ts';

/** Locks to release, and unanswered requests to repeat. */
export interface UnsettledLocks {
  readonly acquired: readonly Grant[];
  readonly unanswered: readonly Intent[];
}

export interface RollbackResult {
  readonly releases: readonly { readonly grant: Grant; readonly result: ReleaseResult }[];
  /** Possibly granted; such locks stay until their ttl expires. */
  readonly unanswered: readonly Unanswered[];
}

interface Unanswered {
  readonly intent: Intent;
  readonly error: ServiceError;
  /** The service has responded: repeating the request would not help. */
  readonly isAnswered: boolean;
}

/** The locks and requests to settle before the next round. */
export const unsettledAfter = (rollback: RollbackResult): UnsettledLocks => ({
  acquired: remainingRollback(rollback).map(({ grant }) => grant),
  unanswered: rollback.unanswered.filter(({ isAnswered }) => !isAnswered).map(({ intent }) => intent),
});

/** The reason to put off the next round: a lock of this step may block the step itself. */
export const stuckAfter = (rollback: RollbackResult): ServiceError | undefined =>
  remainingRollback(rollback)[0]?.error ?? rollback.unanswered.find(({ isAnswered }) => !isAnswered)?.error;

/** Time limit of a rollback. The post-step releases the rest. */
export const rollBackMs = 10_000;

type RollbackContext = Pick<LockContext, 'clock' | 'signal'> & { readonly session: LockSession };

export async function rollBackInTime(
  { clock, session, signal }: RollbackContext,
  taken: UnsettledLocks,
): Promise<RollbackResult> {
  const limits = cleanupLimits(clock, rollBackMs, signal);
  return rollBack(session, taken, limits).finally(limits.stop);
}

/**
 * Keeps the granted locks, and releases any that an unanswered request may have acquired. If that fails, it releases
 * all: otherwise the step would end with locks that are not in its outputs.
 */
export async function keepOrRollBack(
  { clock, session, signal }: RollbackContext,
  { acquired, unanswered }: UnsettledLocks,
): Promise<{ readonly kept: boolean; readonly rollback: RollbackResult }> {
  const limits = cleanupLimits(clock, rollBackMs, signal);
  try {
    const excess = await rollBack(session, { acquired: [], unanswered }, limits);
    if (remainingRollback(excess).length === 0 && !signal.aborted) return { kept: true, rollback: excess };
    const rest = await rollBack(session, { acquired, unanswered: [] }, limits);
    const releases = [...excess.releases, ...rest.releases];
    return { kept: false, rollback: { releases, unanswered: excess.unanswered } };
  } finally {
    limits.stop();
  }
}

/** Releases the granted locks, and any that an unanswered request turns out to have acquired when it is repeated. */
export async function rollBack(
  session: LockSession,
  { acquired, unanswered }: UnsettledLocks,
  within: CallLimits,
): Promise<RollbackResult> {
  const releases: { grant: Grant; result: ReleaseResult }[] = [];
  const stillUnanswered: Unanswered[] = [];

  async function release(grant: Grant): Promise<void> {
    releases.push({ grant, result: await session.release(grant, within) });
  }

  async function endLease(lease: string, grants: readonly Grant[]): Promise<void> {
    const [first] = grants;
    if (first === undefined) return;
    const { service, workspace } = first;
    const end = await session.endLease({ service, workspace, lease }, within);
    const result: ReleaseResult =
      end.kind === 'ended' ? { kind: 'released' } : { kind: 'failed', error: end.error, mayBeDone: true };
    releases.push(...grants.map((grant) => ({ grant, result })));
  }

  async function settle(intent: Intent): Promise<void> {
    const result = await session.acquire(intent, within);
    if (result.kind === 'acquired') await release(result.grant);
    else if (result.kind === 'unanswered') {
      stillUnanswered.push({ intent, error: result.error, isAnswered: result.conflict !== undefined });
    }
  }

  const byLease = Map.groupBy(acquired, ({ lock }) => lock.lease);
  for (const [lease, grants] of byLease) if (lease !== undefined) await endLease(lease, grants);
  await inParallel(byLease.get(undefined) ?? [], release);
  await inParallel(unanswered, settle);
  return { releases, unanswered: stillUnanswered };
}

/** Locks that may still exist, to be released later. */
export const remainingRollback = ({
  releases,
}: RollbackResult): readonly { readonly grant: Grant; readonly error: ServiceError }[] =>
  releases.flatMap(({ grant, result }) =>
    result.kind === 'failed' || result.kind === 'unanswered' ? [{ grant, error: result.error }] : [],
  );
