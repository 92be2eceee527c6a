import type { LockPath } from '../interface/lock-path.ts';
import type { Addresses, Slashes } from './addresses.ts';
import { type Answer, isSuccess } from './answer.ts';
import type { Call, Outcome, Within } from './call.ts';
import type { Clock } from './clock.ts';
import { etagOf, holderIn, type KnownLock, readLock } from './known-lock.ts';
import { isOwnError, unusableThoughOptional } from './refusal.ts';
import type { ServiceError } from './service-error.ts';
import type { WorkspaceId } from './workspace-id.ts';

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
  /** It is not sent again where an attempt before may have released the lock. */
  readonly attempts?: 'once' | undefined;
}

export type Release =
  | { readonly kind: 'released' }
  /** Nothing was there. */
  | { readonly kind: 'absent' }
  /** Another lock is there now, and was left alone. */
  | { readonly kind: 'lost'; readonly holder: KnownLock | undefined; readonly error: ServiceError }
  | { readonly kind: 'failed'; readonly error: ServiceError };

type Answered = Extract<Outcome, { kind: 'answered' }>;

const conditionOf = (proof: LockProof | undefined): string | undefined =>
  proof?.etag ?? (proof?.id === undefined ? undefined : `"${proof.id}"`);

const mayBeOfAProxy = new Set([400, 404, 405, 414]);

export interface ReleaseParts {
  readonly call: Call;
  readonly addresses: Addresses;
  readonly clock: Clock;
  readonly serverNow: Clock;
}

export function createReleaseLock({ call, addresses, clock, serverNow }: ReleaseParts) {
  /** How slashes are known to arrive, once one way has been refused and the other was not. */
  let slashes: Slashes = 'encoded';

  function send(
    request: ReleaseRequest,
    condition: string | undefined,
    how: Slashes,
    within: Within,
  ): Promise<Outcome> {
    const { workspace, path, force = false, attempts } = request;
    return call(
      {
        method: 'DELETE',
        target: addresses.lock(workspace, path, how) + (force ? '?force=true' : ''),
        headers: { ...(condition !== undefined && { 'if-match': condition }) },
        attempts,
      },
      within,
    );
  }

  /** Once more with raw slashes, when the encoded ones were refused on the way. */
  async function sendEitherWay(
    request: ReleaseRequest,
    condition: string | undefined,
    within: Within,
  ): Promise<Outcome> {
    const outcome = await send(request, condition, slashes, within);
    if (slashes === 'raw' || !request.path.includes('/')) return outcome;
    if (outcome.kind === 'given-up' || !isRefusedOnTheWay(outcome.answer)) return outcome;
    const again = await send(request, condition, 'raw', within);
    if (again.kind === 'answered' && (isSuccess(again.answer) || isOwnError(again.answer))) slashes = 'raw';
    return { ...again, mayBeDone: again.mayBeDone || outcome.mayBeDone };
  }

  /** Whether the lock was taken after our request set out, so that ours was released by it. */
  function cameLater({ sentAt }: Answered, holder: KnownLock | undefined): boolean {
    if (holder?.acquired_at === undefined) return false;
    return Date.parse(holder.acquired_at) >= serverNow() - (clock() - sentAt);
  }

  function lostOrReleased(course: Answered, path: LockPath): Release {
    const { answer, texts, mayBeDone } = course;
    const told = holderIn(answer);
    const holder = told && readLock(told, path, texts);
    if (mayBeDone && cameLater(course, holder)) return { kind: 'released' };
    return { kind: 'lost', holder, error: course.refuse(answer) };
  }

  function judge(course: Answered, path: LockPath): Release {
    const { answer, texts, mayBeDone } = course;
    if (isSuccess(answer)) {
      const wrong = unusableThoughOptional(answer, texts);
      return wrong === undefined ? { kind: 'released' } : { kind: 'failed', error: course.fail(wrong) };
    }
    switch (answer.status) {
      case 404:
      case 410:
        // An earlier attempt, of which no answer was seen, has done it.
        return { kind: mayBeDone ? 'released' : 'absent' };
      case 412:
        return lostOrReleased(course, path);
      default:
        return { kind: 'failed', error: course.refuse(answer) };
    }
  }

  return async (request: ReleaseRequest, within: Within): Promise<Release> => {
    const { proof, path } = request;
    const outcome = await sendEitherWay(request, conditionOf(proof), within);
    if (outcome.kind === 'given-up') return { kind: 'failed', error: outcome.error };
    if (!isStillThatLock(outcome, request)) return judge(outcome, path);
    const etag = tagIn(outcome, path);
    if (etag === undefined || etag === conditionOf(proof)) {
      return { kind: 'failed', error: outcome.refuse(outcome.answer) };
    }
    const again = await sendEitherWay(request, etag, within);
    return again.kind === 'answered' ? judge(again, path) : { kind: 'failed', error: again.error };
  };
}

/** A 412 about the lock with the very id that is meant: the service knows it by another tag than was sent. */
function isStillThatLock({ answer, texts }: Answered, { path, proof }: ReleaseRequest): boolean {
  if (answer.status !== 412 || proof?.id === undefined) return false;
  const there = holderIn(answer);
  return there !== undefined && readLock(there, path, texts).id === proof.id;
}

const tagIn = ({ answer, texts }: Answered, path: LockPath): string | undefined =>
  etagOf(answer) ?? readLock(holderIn(answer) ?? {}, path, texts).etag;

const isRefusedOnTheWay = (answer: Answer): boolean => mayBeOfAProxy.has(answer.status) && !isOwnError(answer);
