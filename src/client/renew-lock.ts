import { formatDuration } from '../interface/duration.ts';
import type { AcquireLockRequest } from './acquire-lock.ts';
import {
  type AcquiredLock,
  grantedLockIn,
  holderOf,
  isSameLock,
  type KnownLock,
  type LockProof,
  namesLock,
} from './known-lock.ts';
import { lookUpOnce } from './lists.ts';
import { expectResource } from './refusal.ts';
import { changedEtag, conditionOf, isLockGone } from './release-lock.ts';
import type { AnsweredCall, CallLimits, CallResult, ClientContext } from './request.ts';
import { isSuccess } from './response.ts';
import type { ServiceError } from './service-error.ts';

export interface RenewLockRequest extends Omit<AcquireLockRequest, 'firstSentAt' | 'note'> {
  readonly proof: LockProof;
}

export type RenewLockResult =
  | { readonly kind: 'renewed'; readonly lock: AcquiredLock }
  /** The service does not support renewal, and granted another lock instead. */
  | { readonly kind: 'replaced'; readonly lock: AcquiredLock }
  | { readonly kind: 'lost'; readonly holder: KnownLock | undefined; readonly error: ServiceError }
  /** The service interpreted the request differently, and renewed nothing. */
  | { readonly kind: 'refused'; readonly error: ServiceError }
  /** No response shows whether the lock was renewed. */
  | { readonly kind: 'failed'; readonly error: ServiceError };

export function createRenewLock(context: ClientContext) {
  function renewed(answered: AnsweredCall, request: RenewLockRequest): RenewLockResult {
    // The lock is renewed at the earliest when the request was sent.
    const lock = grantedLockIn(answered.response, request, () => answered.sentAt);
    if (isAnother(answered.response, request.proof, lock)) return { kind: 'replaced', lock };
    const { id = request.proof.id, etag = request.proof.etag } = lock;
    return { kind: 'renewed', lock: { ...lock, id, etag } };
  }

  /**
   * Services answer 412 if the condition does not match, 403 for the lock of another owner, and 404 for a free path.
   */
  async function refusal(
    answered: AnsweredCall,
    { path, workspace, proof }: RenewLockRequest,
    within: CallLimits,
  ): Promise<RenewLockResult> {
    const { response } = answered;
    const error = answered.refusal();
    const listed = answered.found && isLockGone(answered.found, proof) ? answered.found : undefined;
    if (![403, 404, 410, 412].includes(response.status) && listed === undefined) return { kind: 'refused', error };
    const holder = holderOf(response, path);
    const isSame = holder && isSameLock(proof, holder);
    // The lock with our id still exists: the service does not accept the condition that was sent.
    if (isSame === true) return { kind: 'refused', error };
    // A service cannot match an ETag that it never sent.
    const isProof = response.status === 412 ? proof.etag !== undefined || isSame === false : holder !== undefined;
    if (isProof) return { kind: 'lost', holder, error };
    const found = listed ?? (await lookUpOnce(context, { workspace, path }, within));
    if (!isLockGone(found, proof)) return { kind: 'refused', error };
    return { kind: 'lost', holder: found.kind === 'locked' ? found.lock : undefined, error };
  }

  function send(
    { workspace, path, type, ttl, proof }: RenewLockRequest,
    idempotencyKey: string,
    within: CallLimits,
  ): Promise<CallResult> {
    const condition = conditionOf(proof);
    if (condition === undefined) throw new Error(`The lock on ${path} has neither id nor ETag.`);
    return context.call(
      {
        method: 'POST',
        target: context.endpoints.locks(workspace),
        headers: { 'idempotency-key': idempotencyKey, 'if-match': condition },
        body: { path, type, ttl: formatDuration(ttl) },
        expect: expectResource('lock', namesLock),
        anySuccess: true,
        async confirm({ status }) {
          // Any other status is not a loss: a login may be missing, or a success may have renewed the lock.
          if (![403, 404, 409, 410, 412].includes(status)) return undefined;
          const listed = await lookUpOnce(context, { workspace, path }, within);
          // In a service without renewal, our own lock blocks the request.
          return (status === 409 && listed.kind === 'locked') || isLockGone(listed, proof) ? listed : undefined;
        },
      },
      within,
    );
  }

  return async (request: RenewLockRequest, within: CallLimits): Promise<RenewLockResult> => {
    let result = await send(request, request.idempotencyKey, within);
    const etag = changedEtag(result, request);
    if (etag !== undefined) {
      result = await send({ ...request, proof: { ...request.proof, etag } }, crypto.randomUUID(), within);
    }
    if (result.kind === 'given-up') return { kind: 'failed', error: result.error };
    return isSuccess(result.response) ? renewed(result, request) : refusal(result, request, within);
  };
}

/** Whether the response has a newer lock instead of the one to renew. */
function isAnother({ status }: { readonly status: number }, proof: LockProof, lock: AcquiredLock): boolean {
  if (proof.id !== undefined && lock.id !== undefined) return proof.id !== lock.id;
  // An ETag may change with every renewal, but 201 says that the lock is new: RFC 9110 section 15.3.2.
  return status === 201 && lock.etag !== undefined && lock.etag !== proof.etag;
}
