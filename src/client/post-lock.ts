import { formatDuration, type Ttl } from '../interface/duration.ts';
import type { LockPath } from '../interface/lock-path.ts';
import type { WorkspaceId } from './access.ts';
import {
  type AcquiredLock,
  comparisonIn,
  conditionOf,
  grantedLockIn,
  holderOf,
  isSameHolder,
  isSameLock,
  type KnownLock,
  type LockProof,
  namesLock,
  newerEtag,
} from './known-lock.ts';
import { lookUpOnce } from './lists.ts';
import { hasWaited, lineIn, lineParts, type QueueWait } from './queue.ts';
import { expectResource, notUnderstood } from './refusal.ts';
import { isLockGone, otherEtag } from './release-lock.ts';
import type { CallLimits, CallResult, ClientContext, Failed, Refused, Succeeded } from './request.ts';
import type { ServiceError } from './service-error.ts';
import { clockSlackMs, responseClockMs } from './time.ts';

/** The common part of the requests for a lock and for a lease. */
export interface LockRequest {
  readonly workspace: WorkspaceId;
  readonly type: string;
  readonly ttl: Ttl;
  /** For clients that find the path locked. Omitted if empty, because not every service supports notes. */
  readonly note?: string | undefined;
  /** Waits in line. Such a request is sent once: the caller repeats it to keep its place. */
  readonly wait?: QueueWait | undefined;
}

interface AcquireLockRequest extends LockRequest {
  readonly path: LockPath;
  readonly idempotencyKey: string;
  /** When the key was first sent, by the clock of the service, if this call repeats an earlier request. */
  readonly firstSentAt?: (() => number) | undefined;
}

export interface Conflict extends ReturnType<typeof lineIn> {
  /** The name of a pool if the service names none of its items. */
  readonly path: string;
  /** Undefined if the service does not name the holder. */
  readonly holder: KnownLock | undefined;
  readonly error: ServiceError;
}

/** Why too few paths are free. When one of these becomes free, there may be enough. */
export type Conflicts = readonly [Conflict, ...Conflict[]];

export type AcquireLockResult =
  | { readonly kind: 'acquired'; readonly lock: AcquiredLock }
  /**
   * `mayBeDone`: an earlier attempt was not answered. A service without idempotency keys may have granted it, and may
   * have refused this attempt because of that lock.
   */
  | (Conflict & { readonly kind: 'held'; readonly mayBeDone: boolean })
  | Failed;

export const createAcquireLock = (context: ClientContext) => {
  function held(
    { response, sentAt }: Succeeded | Refused,
    { path, firstSentAt = () => sentAt }: AcquireLockRequest,
    { holder, error, mayBeDone }: Pick<Conflict, 'holder' | 'error'> & { readonly mayBeDone: boolean },
  ): AcquireLockResult {
    const line = lineIn(response);
    return {
      kind: 'held',
      path,
      holder,
      error,
      ...line,
      // If nobody holds the path and others wait for it, no earlier attempt has locked it.
      mayBeDone: mayBeDone && (holder === undefined ? line.queue === undefined : canBeOurs(holder, firstSentAt())),
    };
  }

  /** Decides by origin and time. */
  function canBeOurs({ origin, acquired_at }: KnownLock, firstSentAt: number): boolean {
    if (origin !== undefined && context.origin !== undefined && origin !== context.origin) return false;
    // False for a lock without a time, which may be ours.
    return !(Date.parse(acquired_at ?? '') < firstSentAt - clockSlackMs);
  }

  function acquired(answered: Succeeded, request: AcquireLockRequest): AcquireLockResult {
    const { response, sentAt } = answered;
    // The lock was acquired no earlier than its key was first sent.
    const firstSentAt = request.firstSentAt?.() ?? sentAt;
    const from = ({ acquired_at }: KnownLock): number =>
      acquired_at === undefined ? firstSentAt : Date.parse(acquired_at);
    const lock = grantedLockIn(response, request, from);
    // Some services return an existing lock of the same owner. Unless as new as this request, it is another job's.
    const existedBefore = from(lock) < firstSentAt - clockSlackMs;
    if (response.status === 200 && existedBefore) {
      const error = answered.error(notUnderstood(response, 'it contains an earlier lock'));
      return held(answered, request, { holder: lock, error, mayBeDone: false });
    }
    const comparison = comparisonIn(response);
    if (comparison !== undefined) context.onCompared?.(comparison);
    return { kind: 'acquired', lock };
  }

  return async (request: AcquireLockRequest, within: CallLimits): Promise<AcquireLockResult> => {
    const { path, firstSentAt, wait } = request;
    const { headers, waitMs } = lineParts(wait, context.branch);
    const result = await context.call(
      {
        ...lockPost(context, request, headers),
        keySentBefore: firstSentAt !== undefined,
        waitMs,
        async confirm(response, limits) {
          // If a gateway cut off the wait, the list of locks cannot show whether the place is kept.
          const isHeld = response.status === 409 && (waitMs === undefined || hasWaited(response));
          const found = isHeld ? await lookUpOnce(context, request, limits) : undefined;
          return found?.kind === 'locked' ? found : undefined;
        },
      },
      within,
    );
    if (result.response === undefined) return result;
    if (result.kind === 'succeeded') return acquired(result, request);
    const { response, error, mayBeDone, found } = result;
    const isOutdated = Boolean(error.failure.outdated?.length);
    if (!isOutdated && (response.status === 409 || response.status === 423)) {
      const listed = found?.kind === 'locked' ? found.lock : undefined;
      return held(result, request, { holder: holderOf(response, path) ?? listed, error, mayBeDone });
    }
    return { ...result, mayBeDone: mayBeDone && !isOutdated };
  };
};

const lockPost = (
  { endpoints }: ClientContext,
  { workspace, path, type, ttl, note, idempotencyKey }: AcquireLockRequest,
  headers: Readonly<Record<string, string>>,
) => ({
  method: 'POST' as const,
  target: endpoints.locks(workspace),
  headers: { 'idempotency-key': idempotencyKey, ...headers },
  body: { path, type, ttl: formatDuration(ttl), note },
  expect: expectResource('lock', namesLock),
  anySuccess: true,
});

export interface RenewLockRequest extends Omit<AcquireLockRequest, 'firstSentAt' | 'note' | 'wait'> {
  readonly proof: LockProof;
  readonly mayHaveEnded?: () => boolean;
  /** An earlier renewal had no response. */
  readonly mayHaveChanged?: boolean;
}

export type RenewLockResult =
  | { readonly kind: 'renewed'; readonly lock: AcquiredLock }
  /** The service returned a different lock. `isNew`: this request acquired it. Otherwise, it may be another job's. */
  | { readonly kind: 'replaced'; readonly lock: AcquiredLock; readonly isNew: boolean }
  | { readonly kind: 'lost'; readonly holder: KnownLock | undefined; readonly error: ServiceError }
  | Failed;

export function createRenewLock(context: ClientContext) {
  function renewed(answered: Succeeded, request: RenewLockRequest): RenewLockResult {
    // The lock was renewed no earlier than the request was sent.
    const lock = grantedLockIn(answered.response, request, () => answered.sentAt);
    if (isAnother(answered.response, request.proof, lock)) {
      const { sentAt, mayBeDone } = answered;
      const begin = Date.parse(lock.acquired_at ?? '');
      // The service may truncate its times to seconds.
      const isCut = begin % responseClockMs === 0;
      const isLater = begin >= sentAt || (isCut && begin > sentAt - responseClockMs);
      // If an attempt was not answered, the lock may be a later one of another job.
      return { kind: 'replaced', lock, isNew: answered.response.status === 201 || (isLater && !mayBeDone) };
    }
    const { id = request.proof.id } = lock;
    return { kind: 'renewed', lock: { ...lock, id, etag: newerEtag(request.proof.etag, lock.etag) } };
  }

  /** Services answer 412 if the condition does not match, 403 for another owner's lock, and 404 for a free path. */
  async function refusal(refused: Refused, request: RenewLockRequest, within: CallLimits): Promise<RenewLockResult> {
    const { path, workspace, proof } = request;
    const { response, error } = refused;
    const listed = refused.found && isLockGone(refused.found, proof) ? refused.found : undefined;
    if (![403, 404, 410, 412].includes(response.status) && listed === undefined) return refused;
    const holder = holderOf(response, path);
    const isSame = holder && isSameHolder(request, holder);
    // The lock with our id still exists, so the service does not accept the condition that was sent.
    if (isSame === true) return refused;
    // A service cannot match an ETag that it never issued.
    const isProof = response.status === 412 ? proof.etag !== undefined || isSame === false : holder !== undefined;
    if (isProof) return { kind: 'lost', holder, error };
    const found = listed ?? (await lookUpOnce(context, { workspace, path }, within));
    if (!isLockGone(found, proof)) return refused;
    return { kind: 'lost', holder: found.kind === 'locked' ? found.lock : undefined, error };
  }

  function send(request: RenewLockRequest, within: CallLimits): Promise<CallResult> {
    const { workspace, path, proof } = request;
    const condition = conditionOf(proof);
    if (condition === undefined) throw new Error(`The lock on ${path} has neither id nor ETag.`);
    return context.call(
      {
        ...lockPost(context, request, { 'if-match': condition }),
        async confirm({ status }) {
          // No other status means a loss: a login may be required, or a success may have renewed the lock.
          if (![403, 404, 409, 410, 412].includes(status)) return undefined;
          const listed = await lookUpOnce(context, { workspace, path }, within);
          // If a service does not support renewal, our own lock blocks the request.
          return (status === 409 && listed.kind === 'locked') || isLockGone(listed, proof) ? listed : undefined;
        },
      },
      within,
    );
  }

  return async (request: RenewLockRequest, within: CallLimits): Promise<RenewLockResult> => {
    let result = await send(request, within);
    const asked = { ...request, mayHaveChanged: request.mayHaveChanged || result.mayBeDone };
    const etag = otherEtag(result, asked);
    if (etag !== undefined) {
      const again = { proof: { ...request.proof, etag }, idempotencyKey: crypto.randomUUID() };
      result = await send({ ...request, ...again }, within);
    }
    if (result.response === undefined) return result;
    return result.kind === 'succeeded' ? renewed(result, request) : refusal(result, asked, within);
  };
}

/** Whether the response contains a newer lock, not the one to renew. */
function isAnother({ status }: { readonly status: number }, proof: LockProof, lock: AcquiredLock): boolean {
  if (proof.id !== undefined && lock.id !== undefined) return proof.id !== lock.id;
  // An ETag may change with every renewal, but a 201 means a new lock (RFC 9110 section 15.3.2).
  return status === 201 && lock.etag !== undefined && isSameLock(proof, lock) !== true;
}
