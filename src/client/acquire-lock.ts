import { formatDuration } from '../interface/duration.ts';
import type { LockPath } from '../interface/lock-path.ts';
import type { QueuePosition } from '../interface/problem.ts';
import type { Ttl } from '../interface/ttl.ts';
import type { WorkspaceId } from './access.ts';
import { type AcquiredLock, comparisonIn, grantedLockIn, holderOf, type KnownLock, namesLock } from './known-lock.ts';
import { lookUpOnce } from './lists.ts';
import { hasWaited, type QueueWait, queueHeaders, queueIn } from './queue.ts';
import { expectResource, notUnderstood, retryAfterHeader } from './refusal.ts';
import type { AnsweredCall, CallLimits, ClientContext } from './request.ts';
import { isReplayed, isSuccess } from './response.ts';
import type { ServiceError } from './service-error.ts';
import { clockSlackMs } from './time.ts';

export interface AcquireLockRequest {
  readonly workspace: WorkspaceId;
  readonly path: LockPath;
  readonly type: string;
  readonly ttl: Ttl;
  /** For clients that find the path locked. Sent only if there is one: not every service supports notes. */
  readonly note?: string | undefined;
  readonly idempotencyKey: string;
  /**
   * When the key was first sent, by the clock of the service, if this call repeats an earlier request; NaN if unknown.
   */
  readonly firstSentAt?: number | undefined;
  /** Waits in line for the lock. A request that waits is sent once: the caller sends it again to keep its place. */
  readonly line?: QueueWait | undefined;
}

/** A path that is already locked. */
export interface Conflict {
  readonly path: LockPath;
  /** Undefined if the service does not name the holder. */
  readonly holder: KnownLock | undefined;
  readonly retryAfterMs: number | undefined;
  /** The service confirms that it applied the requested wait. */
  readonly hasWaited: boolean;
  readonly queue: QueuePosition | undefined;
  readonly error: ServiceError;
}

type AcquireLockResult =
  | {
      readonly kind: 'acquired';
      readonly lock: AcquiredLock;
    }
  /**
   * `mayBeOurs`: an earlier attempt had no response. Without idempotency keys in the service, the holder may be this
   * request.
   */
  | (Conflict & { readonly kind: 'held'; readonly mayBeOurs: boolean })
  /** The lock may have been granted: there was no response until the time or the retries ran out. */
  | { readonly kind: 'unanswered'; readonly error: ServiceError }
  | { readonly kind: 'failed'; readonly error: ServiceError };

export const createAcquireLock = (context: ClientContext) => {
  const { call, endpoints, serverNow, branch, onCompared } = context;

  function held(
    answered: AnsweredCall,
    path: LockPath,
    holder: KnownLock | undefined,
    mayBeOurs: boolean,
  ): AcquireLockResult {
    const { response, fail, refusal } = answered;
    const error = isSuccess(response) ? fail(notUnderstood(response, 'it contains an earlier lock')) : refusal();
    const place = placeIn(answered, serverNow());
    return {
      ...{ kind: 'held', path, holder, error, ...place },
      // A path that others wait for, but nobody holds, is not locked by an earlier attempt.
      mayBeOurs: mayBeOurs && (holder !== undefined || place.queue === undefined),
    };
  }

  function acquired(answered: AnsweredCall, request: AcquireLockRequest): AcquireLockResult {
    const { response, sentAt } = answered;
    const { firstSentAt = sentAt } = request;
    // The lock was acquired at the earliest when its key was first sent, if that time is known.
    const earliest = Number.isNaN(firstSentAt) ? sentAt : firstSentAt;
    const from = ({ acquired_at }: KnownLock): number =>
      acquired_at === undefined ? earliest : Date.parse(acquired_at);
    const lock = grantedLockIn(response, request, from);
    // Some services return the existing lock of an owner. It is another job's, unless it is as new as this request.
    const existedBefore = from(lock) < firstSentAt - clockSlackMs;
    if (response.status === 200 && existedBefore && !isReplayed(response))
      return held(answered, request.path, lock, false);
    const comparison = comparisonIn(response);
    if (comparison !== undefined) onCompared?.(comparison);
    return { kind: 'acquired', lock };
  }

  return async (request: AcquireLockRequest, within: CallLimits): Promise<AcquireLockResult> => {
    const { workspace, path, type, ttl, note, idempotencyKey, firstSentAt, line } = request;
    const waits = line !== undefined && line.seconds > 0;
    const result = await call(
      {
        method: 'POST',
        target: endpoints.locks(workspace),
        headers: { 'idempotency-key': idempotencyKey, ...branchHeader(branch), ...(line && queueHeaders(line)) },
        body: {
          ...{ path, type, ttl: formatDuration(ttl) },
          ...(note !== undefined && { note }),
        },
        keySentBefore: firstSentAt !== undefined,
        ...(waits && { attempts: 'once', responseDelayMs: line.seconds * 1_000 }),
        expect: expectResource('lock', namesLock),
        anySuccess: true,
        async confirm(response, limits) {
          // If a gateway cuts off the wait, the list of locks does not show whether the place is kept.
          const isHeld = response.status === 409 && (!waits || hasWaited(response));
          const found = isHeld ? await lookUpOnce(context, request, limits) : undefined;
          return found?.kind === 'locked' ? found : undefined;
        },
      },
      within,
    );
    const without = (error: ServiceError, mayBeDone = result.mayBeDone): AcquireLockResult => ({
      kind: mayBeDone ? 'unanswered' : 'failed',
      error,
    });
    if (result.kind === 'given-up') return without(result.error);
    const { response, mayBeDone, found } = result;
    if (isSuccess(response)) return acquired(result, request);
    const refusal = result.refusal();
    const isOutdated = refusal.failure.kind === 'refused' && refusal.failure.outdated?.length;
    if (!isOutdated && (response.status === 409 || response.status === 423)) {
      const listed = found?.kind === 'locked' ? found.lock : undefined;
      return held(result, path, holderOf(response, path) ?? listed, mayBeDone);
    }
    return without(refusal, mayBeDone && !isOutdated);
  };
};

/** HTTP libraries send a header byte by byte: the name is UTF-8. */
export const branchHeader = (branch: string | undefined): Readonly<Record<string, string>> =>
  branch === undefined ? {} : { 'lock-branch': Buffer.from(branch).toString('latin1') };

/** The place in line of a request that was not granted, and when to ask again. */
export const placeIn = ({ response }: Pick<AnsweredCall, 'response'>, serverNow: number) => ({
  retryAfterMs: retryAfterHeader(response, serverNow),
  hasWaited: hasWaited(response),
  queue: queueIn(response),
});
