import type { LockPath } from '../interface/lock-path.ts';
import type { WorkspaceId } from './access.ts';
import type { Slashes } from './addresses.ts';
import { type Answer, isSuccess } from './answer.ts';
import type { AnsweredCall, CallResult, ClientContext, Within } from './call.ts';
import { etagOf, holderOf, type KnownLock } from './known-lock.ts';
import { isOwnError, unusableThoughOptional } from './refusal.ts';
import type { ServiceError } from './service-error.ts';

/** What shows that a lock is the one that is meant: its ETag; its id where it has none. */
export interface LockProof {
  readonly etag?: string | undefined;
  readonly id?: string | undefined;
}

export interface ReleaseRequest {
  readonly workspace: WorkspaceId;
  readonly path: LockPath;
  /** Without it, whatever lock is there is released. */
  readonly proof?: LockProof | undefined;
  /** Asks the service to release another's lock. */
  readonly force?: boolean | undefined;
  /** Why, with `force`. A service that does not know it may refuse the request. */
  readonly reason?: string | undefined;
  /** It is not sent again where an attempt before may have released the lock. */
  readonly attempts?: 'once' | undefined;
}

export type ReleaseResult =
  | { readonly kind: 'released' }
  /** Nothing was there. */
  | { readonly kind: 'absent' }
  /** Another lock is there now, and was left alone. */
  | { readonly kind: 'lost'; readonly holder: KnownLock | undefined; readonly error: ServiceError }
  | { readonly kind: 'failed'; readonly error: ServiceError };

/** What goes into `If-Match`. */
export const conditionOf = (proof: LockProof | undefined): string | undefined =>
  proof?.etag ?? (proof?.id === undefined ? undefined : `"${proof.id}"`);

export function createReleaseLock({ call, addresses, clock, serverNow }: ClientContext) {
  /** How slashes are known to arrive, once one way has been refused and the other was not. */
  let slashes: Slashes = 'encoded';

  /** Once more with raw slashes, when the encoded ones were refused by a proxy. */
  async function send(request: ReleaseRequest, condition: string | undefined, within: Within): Promise<CallResult> {
    const { workspace, path, force = false, reason, attempts } = request;
    const query = new URLSearchParams({ ...(force && { force: 'true' }), ...(reason && { reason }) }).toString();
    const sendWith = (how: Slashes): Promise<CallResult> =>
      call(
        {
          method: 'DELETE',
          target: addresses.lock(workspace, path, how) + (query === '' ? '' : `?${query}`),
          headers: { ...(condition !== undefined && { 'if-match': condition }) },
          attempts,
        },
        within,
      );
    const first = await sendWith(slashes);
    if (slashes === 'raw' || !path.includes('/')) return first;
    if (first.kind === 'given-up' || !mayBeOfAProxy(first.answer)) return first;
    const second = await sendWith('raw');
    if (second.kind === 'answered' && (isSuccess(second.answer) || isOwnError(second.answer))) slashes = 'raw';
    return { ...second, mayBeDone: second.mayBeDone || first.mayBeDone };
  }

  /** Another lock is there. Where it was taken after our request set out, that request has released ours. */
  function lost(result: AnsweredCall, path: LockPath): ReleaseResult {
    const holder = holderOf(result.answer, path, result.texts);
    const acquiredAt = Date.parse(holder?.acquired_at ?? '');
    const isLater = acquiredAt >= serverNow() - (clock() - result.sentAt);
    if (result.mayBeDone && isLater) return { kind: 'released' };
    return { kind: 'lost', holder, error: result.refuse(result.answer) };
  }

  function judge(result: CallResult, path: LockPath): ReleaseResult {
    if (result.kind === 'given-up') return { kind: 'failed', error: result.error };
    const { answer, texts, mayBeDone } = result;
    if (isSuccess(answer)) {
      const wrong = unusableThoughOptional(answer, texts);
      return wrong === undefined ? { kind: 'released' } : { kind: 'failed', error: result.fail(wrong) };
    }
    switch (answer.status) {
      case 404:
      case 410:
        // An earlier attempt, of which no answer was seen, has done it.
        return { kind: mayBeDone ? 'released' : 'absent' };
      case 412:
        return lost(result, path);
      default:
        return { kind: 'failed', error: result.refuse(answer) };
    }
  }

  return async (request: ReleaseRequest, within: Within): Promise<ReleaseResult> => {
    const { proof, path } = request;
    const condition = conditionOf(proof);
    const result = await send(request, condition, within);
    if (result.kind === 'given-up' || result.answer.status !== 412 || proof?.id === undefined) {
      return judge(result, path);
    }
    // A 412 about the lock with the very id that is meant: the service knows it by another tag than was sent.
    const holder = holderOf(result.answer, path, result.texts);
    if (holder?.id !== proof.id) return judge(result, path);
    const etag = etagOf(result.answer) ?? holder.etag;
    if (etag === undefined || etag === condition) return { kind: 'failed', error: result.refuse(result.answer) };
    return judge(await send(request, etag, within), path);
  };
}

const mayBeOfAProxy = (answer: Answer): boolean => [400, 404, 405, 414].includes(answer.status) && !isOwnError(answer);
