import type { LockPath } from '../interface/lock-path.ts';
import type { WorkspaceId } from './access.ts';
import { nameIn } from './json.ts';
import {
  conditionOf,
  etagOf,
  type FoundLock,
  holderOf,
  isEtag,
  isSameHolder,
  isSameLock,
  type KnownLock,
  type LockProof,
  namesLock,
  type OwnProof,
  startedLater,
} from './known-lock.ts';
import { type LookupResult, lookUpOnce } from './lists.ts';
import { expectResource, orEmpty } from './refusal.ts';
import type { CallLimits, CallResult, ClientContext, Failed, Refused, Succeeded } from './request.ts';
import { clockSlackMs, responseClockMs } from './time.ts';

/** Without a proof, any lock on the path is released. */
export interface ReleaseLockRequest extends Omit<OwnProof, 'mayHaveChanged'> {
  readonly workspace: WorkspaceId;
  readonly path: LockPath;
  readonly force?: boolean | undefined;
  /** The reason for `force`. A service that does not support reasons may refuse the request. */
  readonly reason?: string | undefined;
  readonly once?: boolean | undefined;
  /** The lock on the path just before the request. */
  readonly found?: LookupResult | undefined;
}

export type ReleaseLockResult =
  | { readonly kind: 'released' }
  /** The path was not locked. */
  | { readonly kind: 'absent' }
  /** A different lock is now on the path, and was not changed. */
  | {
      readonly kind: 'other';
      readonly holder: KnownLock | undefined;
      /** An earlier attempt without a response may have released our lock. */
      readonly mayBeDone?: boolean;
    }
  | Failed;

export function createReleaseLock(context: ClientContext) {
  const { call, endpoints, serverNow } = context;

  async function send(request: ReleaseLockRequest, within: CallLimits): Promise<CallResult> {
    const { workspace, path, proof, force, reason, once } = request;
    const condition = conditionOf(proof);
    // Without its condition, the request would release any lock on the path.
    if (condition === undefined && (proof?.etag ?? proof?.id) !== undefined) {
      throw new Error(`Invalid character in header: no request can name the lock on ${path}.`);
    }
    const query = new URLSearchParams({ ...(force && { force: 'true' }), ...(reason && { reason }) }).toString();
    const targetAt = (endpoint: string): string => endpoint + (query && `?${query}`);
    return call(
      {
        method: 'DELETE',
        target: targetAt(endpoints.lock(workspace, path)),
        otherTarget: path.includes('/') ? targetAt(endpoints.lockWithSlashes(workspace, path)) : undefined,
        headers: { ...(condition !== undefined && { 'if-match': condition }) },
        once,
        expect: orEmpty(expectResource('lock', namesLock)),
        anySuccess: true,
        async confirm() {
          const listed = await lookUpOnce(context, request, within);
          return isLockGone(listed, proof) ? listed : undefined;
        },
      },
      within,
    );
  }

  /** For a service without ETags, which cannot match one. Releases the lock only if the list shows that it is ours. */
  async function releaseUnconditionally(
    result: Refused,
    { proof, ...request }: ReleaseLockRequest,
    within: CallLimits,
  ): Promise<ReleaseLockResult> {
    const found = await lookUpOnce(context, request, within);
    const isOurs = found.kind === 'locked' && isSameHolder({ ...request, proof }, found.lock) === true;
    const mayExpire = found.kind === 'locked' && Date.parse(found.lock.expires_at ?? '') < serverNow() + clockSlackMs;
    if (!isOurs || mayExpire) return classifyByList(result, found, { proof, ...request });
    const released = await send({ ...request, once: true }, within);
    return classify(released, { ...request, found }, within);
  }

  return async (request: ReleaseLockRequest, within: CallLimits): Promise<ReleaseLockResult> => {
    const result = await send(request, within);
    const asked = { ...request, mayHaveEnded: () => result.mayBeDone || request.mayHaveEnded?.() === true };
    const etag = otherEtag(result, asked);
    if (etag === undefined) return classify(result, asked, within);
    const current = { ...asked, proof: { ...request.proof, etag } };
    return classify(await send(current, within), current, within);
  };

  async function classify(
    result: CallResult,
    request: ReleaseLockRequest,
    within: CallLimits,
  ): Promise<ReleaseLockResult> {
    if (result.response === undefined) return result;
    const { response, found } = result;
    if (found !== undefined) return gone(result, found);
    if (result.kind === 'succeeded') return { kind: 'released' };
    switch (response.status) {
      case 404:
      case 410: {
        // The response may be about the workspace, or about a wrong URL.
        const isNew = request.found === undefined || request.found.kind === 'locked';
        const listed = isNew ? await lookUpOnce(context, request, within) : request.found;
        if (listed.kind === 'unknown') return { kind: result.mayBeDone ? 'released' : 'absent' };
        return classifyByList(result, listed, request);
      }
      case 412: {
        const { proof = {} } = request;
        const holder = holderOf(response, request.path);
        const isSame = holder && isSameHolder(request, holder);
        // A service cannot match an ETag that it never issued.
        const isProof = proof.etag !== undefined || isSame === false;
        if (proof.id !== undefined && !isProof) return releaseUnconditionally(result, request, within);
        if (isSame === true) return result;
        if (!result.mayBeDone || holder !== undefined) return heldByOther(result, holder);
        // Nothing matches the condition on a free path either (RFC 9110 section 13.1.1).
        const listed = await lookUpOnce(context, request, within);
        if (listed.kind === 'absent') return { kind: 'released' };
        if (listed.kind !== 'locked') return heldByOther(result, undefined);
        return isSameLock(proof, listed.lock) ? result : heldByOther(result, listed.lock);
      }
      default:
        return result;
    }
  }
}

/**
 * The ETag to try next, if a 412 names our lock: a renewal without a response has changed it, or the service compares it
 * without the quotes that its bodies lack.
 */
export function otherEtag({ response }: CallResult, asked: OwnProof & { readonly path: LockPath }) {
  const { path, proof = {} } = asked;
  const holder = response?.status === 412 ? holderOf(response, path) : undefined;
  if (response === undefined || holder === undefined || isSameHolder(asked, holder) !== true) return undefined;
  // A release does not know whether a renewal has moved the start.
  if (startedLater(proof, holder) && !asked.mayHaveChanged) return undefined;
  const inBody = [holder.etag, holder.etag && nameIn(holder.raw['etag'])];
  // Without our id, another ETag may be that of a later lock.
  const etags =
    proof.id !== undefined && holder.id === proof.id
      ? [etagOf(response), ...inBody]
      : inBody.filter((etag) => isSameLock({ etag }, { etag: proof.etag }));
  return etags.find((etag) => etag !== undefined && isEtag(etag) && etag !== conditionOf(proof));
}

/** A different lock is on the path. If it was acquired after our request was sent, that request released our lock. */
function heldByOther(result: Succeeded | Refused, holder: KnownLock | undefined): ReleaseLockResult {
  const acquiredAt = Date.parse(holder?.acquired_at ?? '');
  if (result.mayBeDone && acquiredAt >= result.sentAt) return { kind: 'released' };
  // The service may truncate its times to seconds.
  const earliestMs = acquiredAt % responseClockMs === 0 ? result.sentAt - responseClockMs : result.sentAt;
  return { kind: 'other', holder, mayBeDone: result.mayBeDone && !(acquiredAt <= earliestMs) };
}

function gone(result: Succeeded | Refused, found: FoundLock): ReleaseLockResult {
  if (found.kind === 'locked') return heldByOther(result, found.lock);
  return { kind: result.mayBeDone || result.kind === 'succeeded' ? 'released' : 'absent' };
}

function classifyByList(result: Refused, found: LookupResult, { proof }: ReleaseLockRequest): ReleaseLockResult {
  if (isLockGone(found, proof)) return gone(result, found);
  return found.kind === 'failed' ? { ...found, mayBeDone: result.mayBeDone } : result;
}

/** Whether a list shows that the lock is gone: no lock on the path, or a different one. */
export const isLockGone = (found: LookupResult, proof: LockProof | undefined): found is FoundLock =>
  found.kind === 'absent' || (found.kind === 'locked' && isSameLock(proof ?? {}, found.lock) === false);
