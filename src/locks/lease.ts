import type { AcquiredLock } from '../client/known-lock.ts';
import { leaseName } from '../client/leases.ts';
import type { QueueWait } from '../client/queue.ts';
import type { CallLimits } from '../client/request.ts';
import { knowsNoRoute, ServiceError } from '../client/service-error.ts';
import { formatDuration } from '../interface/duration.ts';
import { maxLeasePaths } from '../interface/lock-path.ts';
import { type Grant, grantedLock } from './ledger/entry.ts';
import type { AcquireGoal, AcquireRound, PathContext } from './path-by-path.ts';
import { cleanupLimits, endLease, rollBackMs } from './release.ts';

/**
 * Acquires several locks as one lease. Its id is that of the step, so the post-step can end it even without a ledger.
 * Undefined for a single lock, and for more than a lease can have.
 */
export function createLease(context: PathContext, { paths, pool, count }: AcquireGoal) {
  const { client, record, clock, signal, log, terms } = context;
  const { service, workspace, step, type, ttl, note } = terms;
  const isSet = paths.length > 1 && paths.length <= maxLeasePaths;
  if (pool === undefined && !isSet) return undefined;
  const startedAt = clock();
  const request = { workspace, lease: step, paths, pool, count, type, ttl, note };
  const job = { service, workspace, step };
  const entry = { ...job, lease: step };
  const intent = { kind: 'lease', ...entry, path: leaseName(request), type, ttl: formatDuration(ttl) } as const;
  /** `open`: the lease has a place in line, or may have been granted. `over`: the step keeps it, or has ended it. */
  let state: 'new' | 'refused' | 'open' | 'over' = 'new';
  const now = (): string => new Date(client.serverNow()).toISOString();

  /** `unsupported`: the service knows only the interface, or a gateway answered in its place. */
  async function attempt(
    wait: QueueWait | undefined,
    within: CallLimits,
  ): Promise<AcquireRound | { readonly kind: 'unsupported' }> {
    if (state === 'new') record({ ...intent, at: now() });
    if (state === 'new') state = 'refused';
    const put = await client.putLease({ ...request, wait }, within);
    if (put.kind === 'held' || put.mayBeDone || (put.kind === 'blocked' && wait !== undefined)) state = 'open';
    if (put.kind === 'failed' && knowsNoRoute(put.error) && !client.isOurs()) {
      if (pool === undefined) return { kind: 'unsupported' };
      const reason = `The service has no pools, so no item of ${JSON.stringify(pool.name)} can be locked.`;
      return { kind: 'failed', error: new ServiceError(put.error.call, { kind: 'unsupported', reason }) };
    }
    const grantedAt = clock();
    const grants = put.kind === 'held' ? grantsOf(put.locks) : [];
    if (grants.length > 0) record(...grants);
    if (signal.aborted) {
      await end();
      return { kind: 'cancelled' };
    }
    if (put.kind === 'failed') return put;
    if (put.kind === 'blocked') return { kind: 'held', conflicts: put.conflicts };
    const [lost] = put.lost;
    if (lost === undefined) {
      state = 'over';
      return { kind: 'acquired', grants, locks: put.locks, items: put.items, grantedAt };
    }
    await end();
    const expires_at = lost.reason === 'forced' || lost.reason === 'released' ? undefined : now();
    return { kind: 'too-short', expired: { path: lost.path, expires_at } };
  }

  function grantsOf(locks: readonly AcquiredLock[]): readonly Grant[] {
    const common = { waitedMs: Math.round(clock() - startedAt), at: now() };
    // A key can be sent in a header, and a path may have any letters.
    return locks.map((lock, index) => {
      const key = `${step}/lease/${index + 1}`;
      return { kind: 'granted', ...job, path: lock.path, key, lock: grantedLock(lock), ...common };
    });
  }

  /**
   * Ends the lease, even if its request has yet to arrive. If that fails, the post-step tries again. `isAnswered`: whether a
   * service has answered a step that then requested its locks path by path.
   */
  async function end(isAnswered?: boolean): Promise<void> {
    const isByPath = isAnswered !== undefined;
    // If the service has shown its marks since, it knows leases, and a gateway had refused this one.
    const mayHold = state === 'open' || (state === 'refused' && isByPath && client.isOurs());
    // So far, perhaps only a gateway has answered: the post-step finds out.
    if (isByPath && !client.isOurs() && (mayHold || !isAnswered)) return;
    if (state === 'refused' && !mayHold) record({ kind: 'lease-ended', ...entry, at: now() });
    state = 'over';
    if (!mayHold) return;
    const ended = await endLease(context, entry, cleanupLimits(clock, rollBackMs, signal));
    if (ended.kind === 'ended') return;
    log.line(`The locks may have been granted, and could not be released yet: ${ended.error.message}`);
  }

  return { attempt, end };
}
