import { formatDuration } from '../interface/duration.ts';
import { grantedIn, type LockRequest, type TakenLock } from './acquire-lock.ts';
import { type Answer, isSuccess } from './answer.ts';
import type { AnsweredCall, CallResult, ClientContext, Within } from './call.ts';
import { etagOf, holderOf, type KnownLock } from './known-lock.ts';
import { unusableThoughOptional } from './refusal.ts';
import { conditionOf, type LockProof } from './release-lock.ts';
import type { ServiceError } from './service-error.ts';

export interface RenewalRequest extends Omit<LockRequest, 'keySentBefore' | 'note'> {
  readonly proof: LockProof;
}

export type Renewal =
  | { readonly kind: 'renewed'; readonly lock: TakenLock }
  /** The service knows no renewals, and has taken another lock instead. */
  | { readonly kind: 'replaced'; readonly lock: TakenLock }
  /** It is not ours any more. */
  | { readonly kind: 'lost'; readonly holder: KnownLock | undefined; readonly error: ServiceError }
  /** The service has understood something else, and has renewed nothing. */
  | { readonly kind: 'refused'; readonly error: ServiceError }
  /** No answer tells whether it was renewed. */
  | { readonly kind: 'failed'; readonly error: ServiceError };

/** Whether the lock of the answer is a later one than that which was to be renewed. */
function isAnother({ status }: { readonly status: number }, proof: LockProof, lock: TakenLock): boolean {
  if (proof.id !== undefined && lock.id !== undefined) return proof.id !== lock.id;
  // An ETag may change with every renewal. What was created was not there before: RFC 9110 section 15.3.2.
  return status === 201 && lock.etag !== undefined && lock.etag !== proof.etag;
}

/**
 * 403 is the answer about the lock of another owner, and 404 about a path without a lock. What stands in front of a
 * service that is being restarted says so too, of every lock, and with a page.
 */
const isLoss = ({ status, body }: Answer): boolean =>
  status === 412 || ([403, 404, 410].includes(status) && (body.kind === 'empty' || body.kind === 'json'));

export function createRenewLock({ call, addresses, clock, serverNow }: ClientContext) {
  const send = (request: RenewalRequest, condition: string, key: string, within: Within): Promise<CallResult> =>
    call(
      {
        method: 'POST',
        target: addresses.locks(request.workspace),
        headers: { 'idempotency-key': key, 'if-match': condition },
        body: { path: request.path, type: request.type, ttl: formatDuration(request.ttl) },
      },
      within,
    );

  function renewed(answered: AnsweredCall, request: RenewalRequest): Renewal {
    const { answer, texts } = answered;
    const wrong = unusableThoughOptional(answer, texts);
    if (wrong !== undefined) return { kind: 'failed', error: answered.fail(wrong) };
    // When the request set out, by the clock of the server: the lock is renewed at that moment at the earliest.
    const from = serverNow() - (clock() - answered.sentAt);
    const lock = grantedIn(answered, request, () => from);
    if (isAnother(answer, request.proof, lock)) return { kind: 'replaced', lock };
    const { id = request.proof.id, etag = request.proof.etag } = lock;
    return { kind: 'renewed', lock: { ...lock, id, etag } };
  }

  function judge(result: CallResult, request: RenewalRequest): Renewal {
    if (result.kind === 'given-up') return { kind: 'failed', error: result.error };
    const { answer, texts } = result;
    if (isSuccess(answer)) return renewed(result, request);
    const error = result.refuse(answer);
    const holder = holderOf(answer, request.path, texts);
    // With the very id that is meant, it is still there: the service does not take the condition that was sent.
    const isOurs = holder?.id !== undefined && holder.id === request.proof.id;
    return isLoss(answer) && !isOurs ? { kind: 'lost', holder, error } : { kind: 'refused', error };
  }

  return async (request: RenewalRequest, within: Within): Promise<Renewal> => {
    const { proof, path, idempotencyKey } = request;
    const condition = conditionOf(proof);
    if (condition === undefined) throw new Error(`Nothing tells the lock on ${path} from another.`);
    const result = await send(request, condition, idempotencyKey, within);
    if (result.kind === 'given-up' || result.answer.status !== 412 || proof.id === undefined) {
      return judge(result, request);
    }
    // A 412 about the lock with the very id that is meant: an attempt without an answer has renewed it, and its ETag.
    const holder = holderOf(result.answer, path, result.texts);
    const etag = etagOf(result.answer) ?? holder?.etag;
    if (holder?.id !== proof.id || etag === undefined || etag === condition) return judge(result, request);
    return judge(await send(request, etag, crypto.randomUUID(), within), request);
  };
}
