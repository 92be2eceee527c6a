import { inParallel } from '../client/in-parallel.ts';
import type { CallLimits } from '../client/request.ts';
import type { ServiceError } from '../client/service-error.ts';
import type { LockContext } from './context.ts';
import { endLease } from './end-lease.ts';
import type { Grant } from './ledger/entry.ts';
import type { LockSession } from './session.ts';

/** A lock, or a lease that may have been granted, which could not be given back. */
export interface Left {
  readonly grant?: Grant;
  /** Undefined if the lock cannot be identified. */
  readonly error: ServiceError | undefined;
}

interface RollbackContext extends Pick<LockContext, 'client' | 'record' | 'clock' | 'signal'> {
  readonly session: LockSession;
}

/** Time limit of a rollback. The post-step releases the rest. */
export const rollBackMs = 10_000;

/** Releases the locks, those of a lease with one request. Returns those that stay. */
export async function rollBack(
  context: RollbackContext,
  acquired: readonly Grant[],
  within = cleanupLimits(context.clock, rollBackMs, context.signal),
): Promise<readonly Left[]> {
  const { session } = context;
  const left: Left[] = [];

  async function release(grant: Grant): Promise<void> {
    const result = await session.release(grant, within);
    if (result.kind === 'failed') left.push({ grant, error: result.error });
    if (result.kind === 'ambiguous') left.push({ grant, error: undefined });
  }

  const byLease = Map.groupBy(acquired, ({ lock }) => lock.lease);
  for (const [lease, grants] of byLease) {
    const [first] = grants;
    if (lease === undefined || first === undefined) continue;
    const end = await endLease(context, { ...first, lease }, within);
    if (end.kind !== 'ended') left.push(...grants.map((grant) => ({ grant, error: end.error })));
  }
  await inParallel(byLease.get(undefined) ?? [], release);
  return left;
}

/** The locks that can be given back later. */
export const retriable = (left: readonly Left[]): readonly { readonly grant: Grant; readonly error: ServiceError }[] =>
  left.flatMap(({ grant, error }) => (grant === undefined || error === undefined ? [] : [{ grant, error }]));

/** A cancelled step must end within 5 s, and reporting and exiting take a part of that. */
const afterCancelMs = 3_500;

/** When the time after a cancellation ends: all cleanups of a step share it. */
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
