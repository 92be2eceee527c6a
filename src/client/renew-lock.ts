import { formatDuration } from '../interface/duration.ts';
import { type AcquiredLock, type AcquireLockRequest, grantedIn } from './acquire-lock.ts';
import { etagOf, holderOf, isSameLock, type KnownLock, type LockProof, namesLock } from './known-lock.ts';
import { createLists } from './lists.ts';
import { type LookupResult, lookUp } from './lookup.ts';
import { expectResource } from './refusal.ts';
import { conditionOf, isGone } from './release-lock.ts';
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
  /** The lock is no longer ours. */
  | { readonly kind: 'lost'; readonly holder: KnownLock | undefined; readonly error: ServiceError }
  /** The service interpreted the request differently, and renewed nothing. */
  | { readonly kind: 'refused'; readonly error: ServiceError }
  /** No response shows whether the lock was renewed. */
  | { readonly kind: 'failed'; readonly error: ServiceError };

export function createRenewLock(context: ClientContext) {
  const { call, addresses, clock, serverNow } = context;
  const lists = createLists(context);

  interface Sent {
    readonly result: CallResult;
    /** The list that confirms, after the response of a gateway, that our lock is gone. */
    readonly found: LookupResult | undefined;
  }

  const look = ({ workspace, path }: RenewLockRequest, within: CallLimits): Promise<LookupResult> =>
    lookUp(lists, { workspace, path, attempts: 'once' }, within);

  async function send(request: RenewLockRequest, condition: string, key: string, within: CallLimits): Promise<Sent> {
    let found: LookupResult | undefined;
    const result = await call(
      {
        method: 'POST',
        target: addresses.locks(request.workspace),
        headers: { 'idempotency-key': key, 'if-match': condition },
        body: { path: request.path, type: request.type, ttl: formatDuration(request.ttl) },
        expect: (response, texts) => expectResource(response, texts, 'lock', namesLock),
        async confirm({ status }) {
          // Any other status is not a loss: a login may be missing, or a success may have renewed the lock.
          if (![403, 404, 409, 410, 412].includes(status)) return false;
          const listed = await look(request, within);
          found = isGone(listed, request.proof) ? listed : undefined;
          // In a service without renewal, our own lock blocks the request.
          return found !== undefined || (status === 409 && listed.kind === 'locked');
        },
      },
      within,
    );
    return { result, found };
  }

  function renewed(answered: AnsweredCall, request: RenewLockRequest): RenewLockResult {
    // The lock is renewed at the earliest when the request was sent, by the clock of the server.
    const from = serverNow() - (clock() - answered.sentAt);
    const lock = grantedIn(answered, request, () => from);
    if (isAnother(answered.response, request.proof, lock)) return { kind: 'replaced', lock };
    const { id = request.proof.id, etag = request.proof.etag } = lock;
    return { kind: 'renewed', lock: { ...lock, id, etag } };
  }

  /**
   * Services answer 412 if the condition does not match, 403 for the lock of another owner, and 404 for a free path.
   */
  async function refusal(
    answered: AnsweredCall,
    listed: LookupResult | undefined,
    request: RenewLockRequest,
    within: CallLimits,
  ): Promise<RenewLockResult> {
    const { response, texts } = answered;
    const { proof } = request;
    const error = answered.refuse(response);
    const holder = holderOf(response, request.path, texts);
    const isSame = holder && isSameLock(proof, holder);
    if (![403, 404, 410, 412].includes(response.status) && listed === undefined) return { kind: 'refused', error };
    // The lock with our id still exists: the service does not accept the condition that was sent.
    if (isSame === true) return { kind: 'refused', error };
    // A service cannot match an ETag that it never sent.
    const isProof = response.status === 412 ? proof.etag !== undefined || isSame === false : holder !== undefined;
    if (isProof) return { kind: 'lost', holder, error };
    const found = listed ?? (await look(request, within));
    if (!isGone(found, proof)) return { kind: 'refused', error };
    return { kind: 'lost', holder: found.kind === 'locked' ? found.lock : undefined, error };
  }

  async function judge(
    { result, found }: Sent,
    request: RenewLockRequest,
    within: CallLimits,
  ): Promise<RenewLockResult> {
    if (result.kind === 'given-up') return { kind: 'failed', error: result.error };
    return isSuccess(result.response) ? renewed(result, request) : refusal(result, found, request, within);
  }

  return async (request: RenewLockRequest, within: CallLimits): Promise<RenewLockResult> => {
    const { proof, path, idempotencyKey } = request;
    const condition = conditionOf(proof);
    if (condition === undefined) throw new Error(`The lock on ${path} has neither id nor ETag.`);
    const sent = await send(request, condition, idempotencyKey, within);
    const { result } = sent;
    if (result.kind === 'given-up' || result.response.status !== 412 || proof.id === undefined) {
      return judge(sent, request, within);
    }
    // A 412 about the lock with our id: an unanswered attempt has renewed it and changed its ETag.
    const holder = holderOf(result.response, path, result.texts);
    const etag = etagOf(result.response) ?? holder?.etag;
    if (holder?.id !== proof.id || etag === undefined || etag === condition) return judge(sent, request, within);
    return judge(await send(request, etag, crypto.randomUUID(), within), request, within);
  };
}

/** Whether the response has a newer lock instead of the one to renew. */
function isAnother({ status }: { readonly status: number }, proof: LockProof, lock: AcquiredLock): boolean {
  if (proof.id !== undefined && lock.id !== undefined) return proof.id !== lock.id;
  // An ETag may change with every renewal, but 201 says that the lock is new: RFC 9110 section 15.3.2.
  return status === 201 && lock.etag !== undefined && lock.etag !== proof.etag;
}
