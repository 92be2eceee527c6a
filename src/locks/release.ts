import {
  backoff,
  type CallLimits,
  isTransient,
  type KnownLock,
  type LookupResult,
  lookUp,
  type ServiceError,
  type WorkspaceId,
} from '../client/client.ts';
import type { LockPath } from '../interface/lock-path.ts';
import type { LockContext } from './context.ts';
import { mayHaveExpired, type OwnLock, ownLockState } from './ownership.ts';

/** Identifies the lock to release, so that no other one is released instead. */
export type ReleaseTarget =
  | {
      /** A lock that was granted to this job, or to the job that handed it over. */
      readonly kind: 'own';
      readonly lock: OwnLock;
      /** The lock may already have been released: the current lock is ours only with proof. */
      readonly mayBeReleased: boolean;
    }
  /** The lock that a lookup of the path has found, and no later one. */
  | { readonly kind: 'found'; readonly found: Exclude<LookupResult, { readonly kind: 'failed' }> };

interface LockToRelease {
  readonly service: string;
  readonly workspace: WorkspaceId;
  readonly path: LockPath;
  readonly target: ReleaseTarget;
  /** Asks the service to release the lock even if it has another owner. */
  readonly force?: boolean | undefined;
  /** A failed release is not tried again here. */
  readonly attempts?: 'once' | undefined;
}

export type ReleaseResult =
  | { readonly kind: 'released' }
  /** The path was not locked. */
  | { readonly kind: 'absent' }
  /** A different lock is on the path now, and was left alone. */
  | {
      readonly kind: 'other';
      readonly holder: KnownLock | undefined;
      /** An attempt without a response may have released ours before. */
      readonly mayBeDone?: boolean;
    }
  /** The current lock cannot be verified to be this one. */
  | { readonly kind: 'ambiguous' }
  /** Sent once, without a response, and another lookup does not show the result. */
  | { readonly kind: 'unanswered'; readonly error: ServiceError }
  /** `mayBeDone`: the service may have released the lock despite the error. */
  | { readonly kind: 'failed'; readonly error: ServiceError; readonly mayBeDone: boolean };

export type ReleaseContext = Pick<LockContext, 'client' | 'clock' | 'sleep' | 'random' | 'record'>;

/** Releases this lock and no other. Records the intent in the ledger before the request, and then the result. */
export async function releaseTarget(
  context: ReleaseContext,
  request: LockToRelease,
  within: CallLimits,
): Promise<ReleaseResult> {
  const { service, workspace, path, target } = request;
  const { client, record } = context;
  const { id, etag, key } = lockOf(target);
  const entry = { service, workspace, path, id, etag, key };
  const now = (): string => new Date(client.serverNow()).toISOString();
  if (target.kind === 'own' || target.found.kind !== 'absent') record({ kind: 'releasing', ...entry, at: now() });
  const result = await send(context, request, within);
  // Without any proof, the lock of another holder does not show which lock of this job has ended.
  const isKnown = result.kind === 'other' && (key ?? id ?? etag) !== undefined;
  if (result.kind === 'released' || result.kind === 'absent' || isKnown) {
    record({ kind: 'ended', ...entry, at: now() });
  }
  return result;
}

async function send(context: ReleaseContext, request: LockToRelease, within: CallLimits): Promise<ReleaseResult> {
  const { workspace, path, target, force } = request;
  const proof = lockOf(target);
  if (hasIdentity(proof)) {
    const result = await context.client.releaseLock({ workspace, path, proof, force }, within);
    return result.kind === 'failed' ? { ...result, mayBeDone: mayBeDone(result.error) } : result;
  }
  return target.kind === 'own'
    ? releaseUnidentified(context, request, target, within)
    : releaseFound(context, request, target, within);
}

/** A request that names its lock by ETag or id can be sent again: it never releases a later lock. */
export const hasIdentity = ({ etag, id }: Pick<OwnLock, 'etag' | 'id'>): boolean =>
  etag !== undefined || id !== undefined;

const maxPauseMs = 5_000;

type OwnTarget = Extract<ReleaseTarget, { kind: 'own' }>;

/**
 * Without ETag or id, a release request only names the path. It is therefore sent only once after each lookup, which also
 * tells the time of the service: an unanswered request may have released ours, and another job may hold the path now.
 */
async function releaseUnidentified(
  { client, clock, sleep, random }: ReleaseContext,
  request: LockToRelease,
  { lock, mayBeReleased }: OwnTarget,
  within: CallLimits,
): Promise<ReleaseResult> {
  const { workspace, path, force, attempts } = request;
  let sent = false;
  for (let failed = 1; ; failed += 1) {
    const found = await lookUp(client, request, within);
    if (found.kind === 'failed') return { ...found, mayBeDone: sent };
    const serverNow = client.serverNow();
    switch (ownLockState(lock, found, { serverNow, mayBeReleased: mayBeReleased || sent })) {
      case 'other':
        if (sent) return { kind: 'released' };
        return { kind: 'other', holder: found.kind === 'locked' ? found.lock : undefined };
      case 'absent':
        if (sent) return { kind: 'released' };
        if (mayBeReleased || mayHaveExpired(lock, serverNow)) return { kind: 'absent' };
        // Some services list no locks at all.
        break;
      case 'unknown':
        return { kind: 'ambiguous' };
      case 'ours':
      case 'assumed':
        break;
    }

    const result = await client.releaseLock({ workspace, path, force, attempts: 'once', found }, within);
    if (result.kind !== 'failed') return result.kind === 'absent' && sent ? { kind: 'released' } : result;
    const { error } = result;
    sent ||= mayBeDone(error);
    const pauseMs = backoff(failed + 1, undefined, random, maxPauseMs);
    if (attempts === 'once' || !isTransient(error) || clock() + pauseMs >= within.deadline) {
      return { ...result, mayBeDone: sent };
    }
    await sleep(pauseMs, within.signal);
  }
}

type FoundTarget = Extract<ReleaseTarget, { kind: 'found' }>;

/**
 * A lock without ETag and id is released with a single request: after a lost response, another job may hold the path.
 */
async function releaseFound(
  { client }: ReleaseContext,
  request: LockToRelease,
  { found }: FoundTarget,
  within: CallLimits,
): Promise<ReleaseResult> {
  const { workspace, path, force } = request;
  if (found.kind === 'absent') return found;
  const result = await client.releaseLock({ workspace, path, force, attempts: 'once' }, within);
  if (result.kind !== 'failed') return result;
  const { error } = result;
  if (!mayBeDone(error)) return { kind: 'failed', error, mayBeDone: false };
  if (found.kind !== 'locked') return { kind: 'unanswered', error };
  const after = await lookUp(client, request, within);
  switch (ownLockState(found.lock, after, { serverNow: client.serverNow(), mayBeReleased: true })) {
    case 'absent':
    case 'other':
      return { kind: 'released' };
    case 'ours':
      return { kind: 'failed', error, mayBeDone: false };
    case 'assumed':
    case 'unknown':
      return { kind: 'unanswered', error };
  }
}

/** Whether the service may have released the lock despite the error. */
function mayBeDone({ failure, status, attempts }: ServiceError): boolean {
  if (attempts === 0) return false;
  if (failure.kind === 'connection') return failure.mayHaveArrived;
  // The result of the attempt that the deadline cut off is unknown; the status is from the attempt before it.
  if (failure.kind === 'deadline') return true;
  // A gateway may answer for the service after forwarding the request.
  if ((failure.kind === 'refused' || failure.kind === 'redirected') && !failure.isRecognized) return true;
  return status === undefined || status === 408 || status >= 500 || (status >= 200 && status < 300);
}

const lockOf = (target: ReleaseTarget): Pick<OwnLock, 'id' | 'etag' | 'key'> => {
  if (target.kind === 'own') return target.lock;
  return target.found.kind === 'locked' ? target.found.lock : {};
};
