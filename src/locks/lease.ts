import type { CallLimits, LeaseRequest, PoolSelection, PutLeaseResult, QueueWait } from '../client/client.ts';
import { formatDuration } from '../interface/duration.ts';
import { type LockPath, maxLeasePaths, parseHeldPath } from '../interface/lock-path.ts';
import type { LockContext, LockTerms } from './context.ts';
import { type Grant, grantedLock } from './ledger/entry.ts';
import type { AcquireRound, PathGoal } from './path-by-path.ts';
import { cleanupLimits, endLease, nothing, rollBackMs } from './rollback.ts';

type HeldLease = Extract<PutLeaseResult, { kind: 'held' }>;

/**
 * Acquires several locks as one lease, which has the id of the step: its post-step knows it without a ledger, too.
 * Undefined for a single lock, and for more than a lease can have.
 */
export function acquireLease(
  context: LockContext & { readonly terms: LockTerms },
  { paths, count }: PathGoal,
  from: LeaseRequest['from'],
) {
  const { client, record, clock, signal, log, terms } = context;
  const { service, workspace, step, type, ttl } = terms;
  const isSet = paths.length > 1 && paths.length <= maxLeasePaths;
  const path = from.kind === 'pool' ? poolPath(from) : isSet ? paths[0] : undefined;
  if (path === undefined) return undefined;
  const startedAt = clock();
  const request = { workspace, lease: step, from, path, count, type, ttl };
  const job = { service, workspace, step };
  const entry = { ...job, lease: step };
  const isPool = from.kind === 'pool';
  const intent = { kind: 'lease', ...entry, path, isPool, type, ttl: formatDuration(ttl) } as const;
  /** `open`: it has a place in line, or may have been granted. `over`: it is kept, or was ended. */
  let state: 'new' | 'refused' | 'open' | 'over' = 'new';
  const now = (): string => new Date(client.serverNow()).toISOString();

  async function attempt(
    wait: QueueWait | undefined,
    within: CallLimits,
  ): Promise<AcquireRound | { readonly kind: 'unsupported' }> {
    if (state === 'new') record({ ...intent, at: now() });
    if (state === 'new') state = 'refused';
    const put = await client.putLease({ ...request, wait }, within);
    if (put.kind === 'unsupported') {
      record({ kind: 'no-leases', service, at: now() });
      return put;
    }
    if (put.kind === 'held' || put.mayBeDone || (put.kind === 'blocked' && wait !== undefined)) state = 'open';
    const grantedAt = clock();
    const grants = put.kind === 'held' ? grantsOf(put) : [];
    if (grants.length > 0) record(...grants);
    if (signal.aborted) {
      await end();
      return { kind: 'cancelled', rollback: nothing };
    }
    if (put.kind === 'failed') return { ...put, rollback: nothing };
    if (put.kind === 'blocked') {
      const of = isPool ? undefined : paths.length;
      return { kind: 'held', blocked: { conflicts: put.conflicts, count, of }, rollback: nothing };
    }
    const [lost] = put.lost;
    if (lost === undefined) {
      state = 'over';
      return { kind: 'acquired', grants, items: put.items, grantedAt, rollback: nothing };
    }
    await end();
    return { kind: 'too-short', expired: { path: lost.path, expires_at: now() }, rollback: nothing };
  }

  function grantsOf({ locks }: HeldLease): readonly Grant[] {
    const common = { waitedMs: Math.round(clock() - startedAt), at: now() };
    return locks.map((lock) => {
      const { path } = lock;
      return { kind: 'granted', ...job, path, key: `${step}/${path}`, lock: grantedLock(lock), ...common };
    });
  }

  /** Also ends what a late request would be granted. If that fails, the end of the job does it. */
  async function end(): Promise<typeof nothing> {
    if (state === 'refused') record({ kind: 'lease-ended', ...entry, at: now() });
    if (state === 'open') {
      const ended = await endLease(context, entry, cleanupLimits(clock, rollBackMs, signal));
      if (ended.kind !== 'ended') {
        log.line(`The locks may have been granted, and could not be released yet: ${ended.error.message}`);
      }
    }
    state = 'over';
    return nothing;
  }

  return { attempt, end };
}

/** Stands for the paths of a pool, which only the service knows. */
function poolPath({ name }: PoolSelection): LockPath {
  const path = parseHeldPath(`pools/${name}`);
  if (path.ok) return path.value;
  throw new Error(path.reason);
}
