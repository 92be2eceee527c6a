import type { Client } from '../client/client.ts';
import { maxConnections } from '../client/connection.ts';
import { createSemaphore } from '../client/in-parallel.ts';
import { conditionOf, type KnownLock } from '../client/known-lock.ts';
import { createLookUps, isUnreadable, type LookupResult } from '../client/lists.ts';
import type { ReleaseLockResult } from '../client/release-lock.ts';
import type { CallLimits } from '../client/request.ts';
import type { ServiceError } from '../client/service-error.ts';
import { backoff, type Clock } from '../client/time.ts';
import { endLease, endsInLease } from './end-lease.ts';
import type { Grant } from './ledger/entry.ts';
import type { Recorder } from './ledger/ledger.ts';
import { certainMs, isOver, mayHaveExpired, type OurLock, ownLockState } from './ownership.ts';

/** The dependencies of acquiring, renewing and releasing locks. Both a step and a command provide them. */
export interface LockContext {
  readonly client: Client;
  /** Appends to the ledger. Never throws: a failure ends the step, or becomes a warning. */
  readonly record: Recorder;
  readonly log: { line(text: string): void };
  /** Aborted when the step is cancelled. */
  readonly signal: AbortSignal;
  /** The clock of this machine. `client` has the clock of the service. */
  readonly clock: Clock;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
}

type ReleaseContext = Pick<LockContext, 'client' | 'record' | 'clock' | 'sleep' | 'random'>;

/** Time limit of a rollback. The post-step releases any remaining locks. */
export const rollBackMs = 10_000;

/** A lock that could not be released. */
export interface Unreleased {
  readonly grant: Grant;
  /** A release request may have arrived. */
  readonly mayBeReleased?: boolean;
  /** Undefined if the lock cannot be identified. */
  readonly error: ServiceError | undefined;
}

/**
 * Releases the locks, those of a lease with a single request. Returns the locks that could not be released, and calls
 * `onLost` for those that someone else has replaced, or released before their time.
 */
export async function rollBack(
  context: ReleaseContext & Pick<LockContext, 'signal'>,
  acquired: readonly Omit<Unreleased, 'error'>[],
  within = cleanupLimits(context.clock, rollBackMs, context.signal),
  onLost: (path: string, holder: KnownLock | 'nobody' | undefined) => void = () => undefined,
): Promise<readonly Unreleased[]> {
  const left: Unreleased[] = [];
  const releaseTarget = createRelease(context, within);

  function checkLoss({ grant, mayBeReleased }: OurLock, end: ReleaseResult): void {
    if (mayBeReleased) return;
    const isMissing = end.kind === 'absent' && !isOver(grant, context.client.serverNow());
    if (isMissing || (end.kind === 'other' && !end.mayBeDone)) {
      onLost(grant.path, end.kind === 'other' ? end.holder : 'nobody');
    }
  }

  async function release({ grant, mayBeReleased = false }: Omit<Unreleased, 'error'>): Promise<void> {
    const result = await releaseTarget({ ...grant, grant, mayBeReleased });
    checkLoss({ grant, mayBeReleased }, result);
    if (result.kind === 'ambiguous') left.push({ grant, error: undefined });
    if (result.kind !== 'failed') return;
    left.push({ grant, error: result.error, mayBeReleased: mayBeReleased || result.mayBeDone });
  }

  const byLease = Map.groupBy(acquired, ({ grant }) => grant.lock.lease);
  for (const [lease, locks] of byLease) {
    const [first] = locks;
    if (lease === undefined || first === undefined) continue;
    const end = await endLease(context, { ...first.grant, lease }, within);
    if (end.kind === 'ended') {
      const endOf = endsInLease(end);
      for (const { grant, mayBeReleased = false } of locks) {
        const ended = endOf({ grant, mayBeReleased });
        checkLoss(ended.lock, ended.end);
      }
    } else left.push(...locks.map(({ grant }) => ({ grant, error: end.error })));
  }
  await Promise.all((byLease.get(undefined) ?? []).map(release));
  return left;
}

/** A cancelled step must end within 5 s, which includes reporting and exiting. */
const afterCancelMs = 3_500;

/** Signals the end of the time after a cancellation, which all cleanups of a step share. */
const ends = new WeakMap<AbortSignal, AbortSignal>();

/** Limits for a cleanup. It also runs in a cancelled step, but for a shorter time. */
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

/** The lock to release. No other lock may be released instead. */
interface ReleaseTarget extends OurLock, Pick<Grant, 'service' | 'workspace'> {
  /** The lookup that found the lock. A later lock is not released, even if nothing distinguishes it from this one. */
  readonly found?: Exclude<LookupResult, { readonly kind: 'failed' }> | undefined;
  /** Asks the service to release the lock even if it has another owner. */
  readonly force?: boolean | undefined;
}

export type ReleaseResult =
  | ReleaseLockResult
  /** The current lock cannot be verified to be this one. */
  | { readonly kind: 'ambiguous' };

/**
 * Returns a function that releases one lock, and never a different one. Records the intent in the ledger before the
 * request, and the result afterwards. Many locks that are released at the same time share a lookup.
 */
export function createRelease({ client, record, clock, sleep, random }: ReleaseContext, within: CallLimits) {
  const prepareLookUp = createLookUps(client, clock, within);
  const enterRequest = createSemaphore(maxTogether);

  async function release(lock: ReleaseTarget): Promise<ReleaseResult> {
    const { service, workspace, grant, force, found, loss } = lock;
    const { path, key } = grant;
    const proof = { ...grant.lock, acquired_at: grant.lock.acquired_at ?? grant.at };
    const { id, etag } = proof;
    const entry = { service, workspace, path, id, etag, key };
    const now = (): string => new Date(client.serverNow()).toISOString();
    const recordAttempt = (failed?: true): void => record({ kind: 'releasing', ...entry, failed, at: now() });
    // Only an ETag, or an id of a service with marks, is matched with certainty, so that no later lock is released.
    const isNamed = conditionOf(proof) !== undefined && (etag !== undefined || client.isOurs());
    if (isNamed) recordAttempt();
    const mayHaveEnded = (): boolean =>
      found === undefined && (lock.mayBeReleased || loss !== undefined || isOver(grant, client.serverNow()));
    let result: ReleaseResult;
    if (isNamed) result = await client.releaseLock({ workspace, path, proof, mayHaveEnded, force, found }, within);
    // Nothing certain would distinguish a later lock on the path from ours.
    else if (loss !== undefined) result = { kind: 'other', holder: undefined };
    else result = await releaseByPath(lock, recordAttempt);
    // If our lock can be identified, the lock of someone else shows that ours has ended. A lock that was handed over is
    // lost then, and stays so in later steps.
    const isReplaced = result.kind === 'other' && (key ?? (found && (id ?? etag))) !== undefined;
    if (result.kind === 'released' || result.kind === 'absent' || isReplaced) {
      record({ kind: 'ended', ...entry, at: now() });
    } else if (isNamed && hadNoEffect(result)) recordAttempt(true);
    return result;
  }

  /**
   * For a service that may release whatever lock is on the path. That could be another job's, if ours has expired, or
   * if an earlier unanswered request released it. So each request is sent once. Unless our lock certainly lasts, the
   * list is read first. After a lost response, the release is repeated only if the list still shows the id of our lock.
   */
  async function releaseByPath(lock: ReleaseTarget, recordAttempt: RecordAttempt): Promise<ReleaseResult> {
    const hasId = conditionOf(lock.grant.lock) !== undefined;
    let target = lock;
    let unanswered: ReleaseResult | undefined;
    for (let failures = 1; ; failures += 1) {
      const result = await releaseOnce(target, recordAttempt);
      const isUnanswered = result.kind === 'failed' && result.mayBeDone;
      if (isUnanswered) unanswered = result;
      else if (unanswered !== undefined && result.kind !== 'failed') {
        return result.kind === 'ambiguous' ? unanswered : { kind: 'released' };
      }
      const pauseMs = isUnanswered && !hasId ? 0 : backoff(failures + 1, undefined, random, maxPauseMs);
      const isTooLate = within.signal?.aborted === true || clock() + pauseMs >= within.deadline;
      const mayTryAgain = isUnanswered || (hasNotArrived(result) && (hasId || target.found === undefined));
      if (!mayTryAgain || isTooLate) return unanswered ?? result;
      target = { ...lock, found: undefined, mayBeReleased: lock.mayBeReleased || unanswered !== undefined };
      await sleep(pauseMs, within.signal);
    }
  }

  /**
   * Records the attempt just before the request, and again if it had no effect, because other processes of the job do
   * not touch a lock that this one may have released.
   */
  async function releaseOnce(lock: ReleaseTarget, recordAttempt: RecordAttempt): Promise<ReleaseResult> {
    const { workspace, grant, mayBeReleased, force } = lock;
    const { path } = grant;
    if (lock.found?.kind === 'absent') return lock.found;
    const proof = conditionOf(grant.lock) === undefined ? undefined : grant.lock;
    const lastsMs = (): number => (proof === undefined || mayBeReleased ? 0 : certainMs(grant, client.serverNow()));
    const isUnclear = (): boolean => lock.found === undefined && lastsMs() <= 0;
    const look = await prepareLookUp(workspace, path, isUnclear());
    // A lookup and its release are one turn: thousands of other locks do not come between them.
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
      const isRefused = proof !== undefined && hadNoEffect(result);
      const isKnown = (grant.key ?? proof) !== undefined;
      if ((isRefused || hasNotArrived(result)) && !mayBeReleased && isKnown) recordAttempt(true);
      return result;
    } finally {
      leave?.();
    }
  }

  return release;
}

/** More than the number of connections, so that locks with many retries do not delay the others. */
const maxTogether = 4 * maxConnections;

const maxPauseMs = 5_000;

/** Records that a release is attempted, or that an attempt had no effect. */
type RecordAttempt = (failed?: true) => void;

/** The lock was not released: the service refused that, or has a different lock. */
const hadNoEffect = (result: ReleaseResult): boolean =>
  (result.kind === 'failed' || result.kind === 'other') && !result.mayBeDone;

/** Any other refusal may be about a lock that has replaced ours. */
const hasNotArrived = (result: ReleaseResult): boolean =>
  result.kind === 'failed' &&
  !result.mayBeDone &&
  (result.error.isTransient || result.error.failure.kind === 'aborted');
