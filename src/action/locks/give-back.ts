import { type CallLimits, inParallel, type ServiceError } from '../../client/client.ts';
import type { Context } from '../context.ts';
import type { Grant, Intent } from '../ledger/entry.ts';
import { cleanupLimits, type ReleaseResult } from './release.ts';
import type { LockSession } from './session.ts';

/** What is given back, and what is to be asked about once more. */
export interface Taken {
  readonly acquired: readonly Grant[];
  readonly unclear: readonly Intent[];
}

/** What came of giving locks back. */
export interface RollbackResult {
  readonly releases: readonly { readonly grant: Grant; readonly result: ReleaseResult }[];
  /** Whether they were granted is not known, so they are left to their ttl. */
  readonly unproven: readonly Unproven[];
}

interface Unproven {
  readonly intent: Intent;
  readonly error: ServiceError;
  /** The service has answered: asking once more would not tell more. */
  readonly isAnswered: boolean;
}

/** Gives back what was granted, and what turns out to have been granted once the service is asked again. */
export async function rollBack(
  session: LockSession,
  { acquired, unclear }: Taken,
  within: CallLimits,
): Promise<RollbackResult> {
  const releases: { grant: Grant; result: ReleaseResult }[] = [];
  const unproven: Unproven[] = [];

  async function release(grant: Grant): Promise<void> {
    releases.push({ grant, result: await session.release(grant, within) });
  }

  async function settle(intent: Intent): Promise<void> {
    const result = await session.settle(intent, within);
    if (result.kind === 'acquired') await release(result.grant);
    else if (result.kind === 'unclear') {
      unproven.push({ intent, error: result.error, isAnswered: result.conflict !== undefined });
    }
  }

  await inParallel(acquired, release);
  await inParallel(unclear, settle);
  return { releases, unproven };
}

/** Locks that may still exist, and are to be given back later. */
export const remainingRollback = ({
  releases,
}: RollbackResult): readonly { readonly grant: Grant; readonly error: ServiceError }[] =>
  releases.flatMap(({ grant, result }) =>
    result.kind === 'failed' || result.kind === 'unclear' ? [{ grant, error: result.error }] : [],
  );

/** What is settled before the next round. */
export const unsettledAfter = (back: RollbackResult): Taken => ({
  acquired: remainingRollback(back).map(({ grant }) => grant),
  unclear: back.unproven.filter(({ isAnswered }) => !isAnswered).map(({ intent }) => intent),
});

/** Why the next round has to wait: a lock of this step may be in its own way. */
export const stuckAfter = (back: RollbackResult): ServiceError | undefined =>
  remainingRollback(back)[0]?.error ?? back.unproven.find(({ isAnswered }) => !isAnswered)?.error;

/** What is not settled by then is left to the post-step. */
export const giveBackMs = 10_000;

type GiveBackContext = Pick<Context, 'clock' | 'signal'> & { readonly session: LockSession };

export async function rollBackInTime(
  { clock, session, signal }: GiveBackContext,
  taken: Taken,
): Promise<RollbackResult> {
  const limits = cleanupLimits(clock, giveBackMs, signal);
  return rollBack(session, taken, limits).finally(limits.lift);
}

/**
 * Keeps what was granted. What may have been granted besides is one too many and goes back; if that cannot be done, all of
 * it goes back: the step would end with more than it knows of.
 */
export async function keepOrRollBack(
  { clock, session, signal }: GiveBackContext,
  { acquired, unclear }: Taken,
): Promise<{ readonly kept: boolean; readonly back: RollbackResult }> {
  const limits = cleanupLimits(clock, giveBackMs, signal);
  try {
    const excess = await rollBack(session, { acquired: [], unclear }, limits);
    if (remainingRollback(excess).length === 0 && !signal.aborted) return { kept: true, back: excess };
    const rest = await rollBack(session, { acquired, unclear: [] }, limits);
    const releases = [...excess.releases, ...rest.releases];
    return { kept: false, back: { releases, unproven: excess.unproven } };
  } finally {
    limits.lift();
  }
}
