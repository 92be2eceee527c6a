import type { Client } from '../client/client.ts';
import { maxConnections } from '../client/connection.ts';
import { createSemaphore } from '../client/in-parallel.ts';
import { conditionOf, isSameLock, type KnownLock } from '../client/known-lock.ts';
import type { EndLeaseResult } from '../client/leases.ts';
import { createLookUps, isUnreadable, type LookupResult } from '../client/lists.ts';
import type { ReleaseLockResult } from '../client/release-lock.ts';
import type { CallLimits } from '../client/request.ts';
import { isTransient, type ServiceError } from '../client/service-error.ts';
import { backoff, type Clock } from '../client/time.ts';
import type { Entry, Grant, LeaseIntent } from './ledger/entry.ts';
import type { Recorder } from './ledger/ledger.ts';
import { certainMs, mayHaveExpired, type OurLock, type OwnLock, ownLockState } from './ownership.ts';

/** What acquiring, renewing and releasing locks needs: a step of a job has it, and so has a command. */
export interface LockContext {
  readonly client: Client;
  /** Appends to the ledger. A failure throws nothing: it ends the step, or is a warning. */
  readonly record: Recorder;
  readonly log: { line(text: string): void };
  /** Aborted when the step is cancelled. */
  readonly signal: AbortSignal;
  /** The clock of this machine; `client` has that of the service. */
  readonly clock: Clock;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
}

type ReleaseContext = Pick<LockContext, 'client' | 'record' | 'clock' | 'sleep' | 'random'>;

/** Time limit of a rollback. The post-step releases the rest. */
export const rollBackMs = 10_000;

/** A lock to give back. `mayBeReleased`: a request for that may have arrived. */
export interface GrantToRelease {
  readonly grant: Grant;
  readonly mayBeReleased?: boolean;
}

/** A lock that could not be given back. */
export interface Unreleased extends GrantToRelease {
  /** Undefined if the lock cannot be identified. */
  readonly error: ServiceError | undefined;
}

/** Releases the locks, those of a lease with one request. Returns those that stay. */
export async function rollBack(
  context: ReleaseContext & Pick<LockContext, 'signal'>,
  acquired: readonly GrantToRelease[],
  within = cleanupLimits(context.clock, rollBackMs, context.signal),
): Promise<readonly Unreleased[]> {
  const left: Unreleased[] = [];
  const releaseTarget = createRelease(context, within);

  async function release({ grant, mayBeReleased = false }: GrantToRelease): Promise<void> {
    const result = await releaseTarget({ ...grant, grant, mayBeReleased });
    if (result.kind === 'ambiguous') left.push({ grant, error: undefined });
    if (result.kind !== 'failed') return;
    left.push({ grant, error: result.error, mayBeReleased: mayBeReleased || result.mayBeDone });
  }

  const byLease = Map.groupBy(acquired, ({ grant }) => grant.lock.lease);
  for (const [lease, locks] of byLease) {
    const [first] = locks;
    if (lease === undefined || first === undefined) continue;
    const end = await endLease(context, { ...first.grant, lease }, within);
    if (end.kind !== 'ended') left.push(...locks.map(({ grant }) => ({ grant, error: end.error })));
  }
  await Promise.all((byLease.get(undefined) ?? []).map(release));
  return left;
}

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

/** The lock to release, and no other one instead. */
interface ReleaseTarget extends OurLock, Pick<Grant, 'service' | 'workspace'> {
  /** The lookup that has found the lock. A later one is not released, even if nothing distinguishes it from this one. */
  readonly found?: Exclude<LookupResult, { readonly kind: 'failed' }> | undefined;
  /** Asks the service to release the lock even if it has another owner. */
  readonly force?: boolean | undefined;
}

export type ReleaseResult =
  | ReleaseLockResult
  /** The current lock cannot be verified to be this one. */
  | { readonly kind: 'ambiguous' };

/**
 * Returns a function that releases a lock and no other. It records the intent in the ledger before the request, and then
 * the result. Many locks that are released at the same time share a lookup.
 */
export function createRelease(context: ReleaseContext, within: CallLimits) {
  const shared = {
    ...context,
    prepareLookUp: createLookUps(context.client, context.clock, within),
    enterRequest: createSemaphore(maxTogether),
  };
  return (lock: ReleaseTarget): Promise<ReleaseResult> => releaseTarget(shared, lock, within);
}

/** More than connections: locks that are tried again and again delay no other. */
const maxTogether = 4 * maxConnections;

interface SharedContext extends ReleaseContext {
  readonly prepareLookUp: ReturnType<typeof createLookUps>;
  readonly enterRequest: ReturnType<typeof createSemaphore>;
}

async function releaseTarget(context: SharedContext, lock: ReleaseTarget, within: CallLimits): Promise<ReleaseResult> {
  const { service, workspace, grant, force } = lock;
  const { client, record } = context;
  const { path, lock: proof, key } = grant;
  const { id, etag } = proof;
  const entry = { service, workspace, path, id, etag, key };
  const now = (): string => new Date(client.serverNow()).toISOString();
  const recordAttempt = (failed?: true): void => record({ kind: 'releasing', ...entry, failed, at: now() });
  // Only an ETag, or an id of our service, is certainly matched: such a request never releases a later lock.
  const isNamed = conditionOf(proof) !== undefined && (etag !== undefined || client.isOurs());
  if (isNamed) recordAttempt();
  const result = isNamed
    ? await client.releaseLock({ workspace, path, proof, force }, within)
    : await releaseByPath(context, lock, within, recordAttempt);
  // A lock of someone else shows that ours has ended, if it is known which one is ours.
  const isReplaced = result.kind === 'other' && (key ?? id ?? etag) !== undefined;
  if (result.kind === 'released' || result.kind === 'absent' || isReplaced) {
    record({ kind: 'ended', ...entry, at: now() });
  }
  return result;
}

/**
 * A service may release whatever lock is on the path: that of another job, if ours has expired, or if an earlier request
 * without a response has released it. So each request is sent once, after a look at the list, unless our lock certainly
 * lasts; and after a lost response only if the list still shows its id.
 */
async function releaseByPath(
  context: SharedContext,
  lock: ReleaseTarget,
  within: CallLimits,
  recordAttempt: (failed?: true) => void,
): Promise<ReleaseResult> {
  const { clock, sleep, random } = context;
  const hasId = conditionOf(lock.grant.lock) !== undefined;
  let target = lock;
  let unanswered: ReleaseResult | undefined;
  for (let failures = 1; ; failures += 1) {
    const result = await releaseOnce(context, target, within, recordAttempt);
    const isUnanswered = result.kind === 'failed' && result.mayBeDone;
    if (isUnanswered) unanswered = result;
    else if (unanswered !== undefined && result.kind !== 'failed') {
      return result.kind === 'ambiguous' ? unanswered : { kind: 'released' };
    }
    const pauseMs = isUnanswered && !hasId ? 0 : backoff(failures + 1, undefined, random, maxPauseMs);
    const isOver = within.signal?.aborted === true || clock() + pauseMs >= within.deadline;
    const mayTryAgain = isUnanswered || (hasNotArrived(result) && (hasId || target.found === undefined));
    if (!mayTryAgain || isOver) return unanswered ?? result;
    target = { ...lock, found: undefined, mayBeReleased: lock.mayBeReleased || unanswered !== undefined };
    await sleep(pauseMs, within.signal);
  }
}

const maxPauseMs = 5_000;

/** A refusal of another kind may be about a lock that has replaced ours. */
const hasNotArrived = (result: ReleaseResult): boolean =>
  result.kind === 'failed' &&
  !result.mayBeDone &&
  (isTransient(result.error) || result.error.failure.kind === 'aborted');

/**
 * Records the attempt just before the request, and if that had no effect: other processes of the job leave alone a lock
 * that this one may have released.
 */
async function releaseOnce(
  context: SharedContext,
  lock: ReleaseTarget,
  within: CallLimits,
  recordAttempt: (failed?: true) => void,
): Promise<ReleaseResult> {
  const { client, clock, enterRequest } = context;
  const { workspace, grant, mayBeReleased, force } = lock;
  const { path } = grant;
  if (lock.found?.kind === 'absent') return lock.found;
  const proof = conditionOf(grant.lock) === undefined ? undefined : grant.lock;
  const lastsMs = (): number => (proof === undefined || mayBeReleased ? 0 : certainMs(grant, client.serverNow()));
  const isUnclear = (): boolean => lock.found === undefined && lastsMs() <= 0;
  const look = await context.prepareLookUp(workspace, path, isUnclear());
  // The lookup and the release of a lock are one turn: with thousands of others, nothing comes between them.
  const leave = await enterRequest(within.signal ?? new AbortController().signal);
  try {
    let found: LookupResult | undefined = lock.found;
    if (isUnclear()) {
      found = await look();
      if (found.kind === 'failed' && !isUnreadable(found.error)) return { ...found, mayBeDone: false };
      const serverNow = client.serverNow();
      const state = ownLockState(lock, found, serverNow);
      if (state === 'other') return { kind: 'other', holder: found.kind === 'locked' ? found.lock : undefined };
      if (state === 'unknown') return { kind: 'ambiguous' };
      // Some services list no locks at all.
      if (state === 'absent' && (mayBeReleased || mayHaveExpired(grant.lock, serverNow))) return { kind: 'absent' };
    }
    recordAttempt();
    const deadline = found === undefined ? Math.min(within.deadline, clock() + lastsMs()) : within.deadline;
    const request = { workspace, path, proof, force, once: true, found };
    const result = await client.releaseLock(request, { ...within, deadline });
    const isRefused = proof !== undefined && result.kind === 'failed' && !result.mayBeDone;
    if ((isRefused || hasNotArrived(result)) && !mayBeReleased && grant.key !== undefined) recordAttempt(true);
    return result;
  } finally {
    leave?.();
  }
}
