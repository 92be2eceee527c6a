import type { LockPath } from '../interface/lock-path.ts';
import type { WorkspaceId } from './access.ts';
import type { Slashes } from './addresses.ts';
import { clockSlackMs } from './clock.ts';
import { etagOf, holderOf, isSameLock, type KnownLock, type LockProof, namesLock } from './known-lock.ts';
import { createLists } from './lists.ts';
import { type LookupResult, lookUp } from './lookup.ts';
import { isRecognized } from './recognize.ts';
import { expectResource } from './refusal.ts';
import type { AnsweredCall, CallLimits, CallResult, ClientContext } from './request.ts';
import { isSuccess } from './response.ts';
import type { ServiceError } from './service-error.ts';

export interface ReleaseLockRequest {
  readonly workspace: WorkspaceId;
  readonly path: LockPath;
  /** Without it, any lock on the path is released. */
  readonly proof?: LockProof | undefined;
  /** Asks the service to release the lock of another owner. */
  readonly force?: boolean | undefined;
  /** The reason, with `force`. A service that does not support it may refuse the request. */
  readonly reason?: string | undefined;
  /** The request is not sent again after an attempt that may have released the lock. */
  readonly attempts?: 'once' | undefined;
}

export type ReleaseLockResult =
  | { readonly kind: 'released' }
  /** The path was not locked. */
  | { readonly kind: 'absent' }
  /** A different lock is on the path now, and was left alone. */
  | { readonly kind: 'lost'; readonly holder: KnownLock | undefined; readonly error: ServiceError }
  | { readonly kind: 'failed'; readonly error: ServiceError };

export function createReleaseLock(context: ClientContext) {
  const { call, addresses, clock, serverNow } = context;
  const lists = createLists(context);
  /** The slash encoding that works, known once the other one has been rejected. */
  let slashes: Slashes = 'encoded';

  interface Sent {
    readonly result: CallResult;
    /** The list that confirms, after the response of a gateway, that our lock is gone. */
    readonly found: LookupResult | undefined;
  }

  const look = ({ workspace, path }: ReleaseLockRequest, within: CallLimits): Promise<LookupResult> =>
    lookUp(lists, { workspace, path, attempts: 'once' }, within);

  async function send(request: ReleaseLockRequest, condition: string | undefined, within: CallLimits): Promise<Sent> {
    const { workspace, path, proof, force, reason, attempts } = request;
    const query = new URLSearchParams({ ...(force && { force: 'true' }), ...(reason && { reason }) }).toString();
    const targetWith = (how: Slashes): string => addresses.lock(workspace, path, how) + (query && `?${query}`);
    const raw = targetWith('raw');
    let found: LookupResult | undefined;
    const result = await call(
      {
        method: 'DELETE',
        target: targetWith(slashes),
        otherTarget: slashes === 'encoded' && path.includes('/') ? raw : undefined,
        headers: { ...(condition !== undefined && { 'if-match': condition }) },
        attempts,
        expect: (response, texts) => expectResource(response, texts, 'lock', namesLock),
        async confirm() {
          const listed = await look(request, within);
          found = isGone(listed, proof) ? listed : undefined;
          return found !== undefined;
        },
      },
      within,
    );
    const isUnderstood = result.kind === 'answered' && (isSuccess(result.response) || isRecognized(result.response));
    if (isUnderstood && result.target === raw) slashes = 'raw';
    return { result, found };
  }

  /** A different lock is on the path. If it was acquired after our request was sent, that request has released ours. */
  function lost(result: AnsweredCall, holder: KnownLock | undefined): ReleaseLockResult {
    const acquiredAt = Date.parse(holder?.acquired_at ?? '');
    const isLater = acquiredAt >= serverNow() - (clock() - result.sentAt);
    if (result.mayBeDone && isLater) return { kind: 'released' };
    return { kind: 'lost', holder, error: result.refuse(result.response) };
  }

  /** Decides by the list if the response alone proves nothing. */
  function classifyByList(result: AnsweredCall, found: LookupResult, { proof }: ReleaseLockRequest): ReleaseLockResult {
    if (isGone(found, proof)) {
      if (found.kind === 'locked') return lost(result, found.lock);
      return { kind: result.mayBeDone || isSuccess(result.response) ? 'released' : 'absent' };
    }
    return { kind: 'failed', error: found.kind === 'failed' ? found.error : result.refuse(result.response) };
  }

  /** A service without ETags cannot match one. The current lock is released only if the list shows that it is ours. */
  async function releaseUnconditionally(
    result: AnsweredCall,
    request: ReleaseLockRequest,
    within: CallLimits,
  ): Promise<ReleaseLockResult> {
    const found = await look(request, within);
    const isOurs = found.kind === 'locked' && isSameLock(request.proof ?? {}, found.lock) === true;
    const mayEnd = found.kind === 'locked' && Date.parse(found.lock.expires_at ?? '') < serverNow() + clockSlackMs;
    if (!isOurs || mayEnd) return classifyByList(result, found, request);
    return judge(await send({ ...request, attempts: 'once' }, undefined, within), request, within);
  }

  async function judge(
    { result, found }: Sent,
    request: ReleaseLockRequest,
    within: CallLimits,
  ): Promise<ReleaseLockResult> {
    if (result.kind === 'given-up') return { kind: 'failed', error: result.error };
    if (found !== undefined) return classifyByList(result, found, request);
    const { response, texts } = result;
    if (isSuccess(response)) return { kind: 'released' };
    switch (response.status) {
      case 404:
      case 410: {
        // The response may be about the workspace, or about a wrong URL.
        const listed = await look(request, within);
        if (listed.kind === 'unknown') return { kind: result.mayBeDone ? 'released' : 'absent' };
        return classifyByList(result, listed, request);
      }
      case 412:
        return lost(result, holderOf(response, request.path, texts));
      default:
        return { kind: 'failed', error: result.refuse(response) };
    }
  }

  return async (request: ReleaseLockRequest, within: CallLimits): Promise<ReleaseLockResult> => {
    const { proof, path } = request;
    const condition = conditionOf(proof);
    const sent = await send(request, condition, within);
    const { result, found } = sent;
    if (
      result.kind === 'given-up' ||
      found !== undefined ||
      result.response.status !== 412 ||
      proof?.id === undefined
    ) {
      return judge(sent, request, within);
    }
    // A 412 about the lock with our id: the service has a different ETag for it.
    const holder = holderOf(result.response, path, result.texts);
    const isOurs = holder?.id === proof.id;
    const etag = etagOf(result.response) ?? holder?.etag;
    if (isOurs && etag !== undefined && etag !== condition) {
      return judge(await send(request, etag, within), request, within);
    }
    const isInvented = proof.etag === undefined;
    if (isInvented && (isOurs || holder?.id === undefined)) return releaseUnconditionally(result, request, within);
    return isOurs ? { kind: 'failed', error: result.refuse(result.response) } : judge(sent, request, within);
  };
}

/** The value of `If-Match`. */
export const conditionOf = (proof: LockProof | undefined): string | undefined =>
  proof?.etag ?? (proof?.id === undefined ? undefined : `"${proof.id}"`);

/** Whether a list shows that the lock is gone: no lock on the path, or a different one. */
export const isGone = (found: LookupResult, proof: LockProof | undefined): boolean =>
  found.kind === 'absent' || (found.kind === 'locked' && isSameLock(proof ?? {}, found.lock) === false);
