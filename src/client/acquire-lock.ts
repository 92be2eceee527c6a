import { formatDuration, milliseconds } from '../interface/duration.ts';
import type { LockPath } from '../interface/lock-path.ts';
import type { Ttl } from '../interface/ttl.ts';
import type { Addresses } from './addresses.ts';
import { type Answer, headerOf, isSuccess, objectIn } from './answer.ts';
import type { Call, Outcome, Within } from './call.ts';
import type { Clock } from './clock.ts';
import { timestamp } from './clock.ts';
import { etagOf, holderIn, type KnownLock, readLock, unwrapped } from './known-lock.ts';
import { retryAfterOf, unusableThoughOptional } from './refusal.ts';
import type { ServiceError } from './service-error.ts';
import type { WorkspaceId } from './workspace-id.ts';

export interface LockRequest {
  readonly workspace: WorkspaceId;
  readonly path: LockPath;
  readonly type: string;
  readonly ttl: Ttl;
  /** The same key with the same request asks for the same lock again. */
  readonly idempotencyKey: string;
  /** The key may have been sent before this call: what is asked now is how that went. */
  readonly keySentBefore?: boolean | undefined;
}

export interface TakenLock extends KnownLock {
  readonly path: LockPath;
  readonly type: string;
  readonly expires_at: string | undefined;
  /** Whether the service stated `expires_at`, or it was computed from the ttl: then it is the earliest it can be. */
  readonly expiry: 'stated' | 'computed';
}

export type Acquisition =
  | {
      readonly kind: 'acquired';
      readonly lock: TakenLock;
      /** The service remembered the answer: the lock was taken by an earlier request with the same key. */
      readonly replayed: boolean;
    }
  | {
      readonly kind: 'held';
      readonly holder: KnownLock | undefined;
      readonly retryAfterMs: number | undefined;
      /** An earlier attempt had no answer: to a service that knows no keys, the holder can be this very request. */
      readonly mayBeOurs: boolean;
      readonly error: ServiceError;
    }
  /** It may have been granted: no answer was seen, and the time or the retries ran out. */
  | { readonly kind: 'unclear'; readonly error: ServiceError }
  /** It was not granted. */
  | { readonly kind: 'failed'; readonly error: ServiceError };

type Course = Extract<Outcome, { kind: 'answered' }>;

/** When the lock was taken at the earliest, by the clock of the server: when the request set out. */
const earliestGrant = ({ sentAt }: Course, clock: Clock, serverNow: Clock): number => serverNow() - (clock() - sentAt);

export interface AcquireParts {
  readonly call: Call;
  readonly addresses: Addresses;
  readonly clock: Clock;
  readonly serverNow: Clock;
}

export function createAcquireLock({ call, addresses, clock, serverNow }: AcquireParts) {
  function taken(course: Course, { path, type, ttl }: LockRequest): TakenLock {
    const { answer, texts } = course;
    const told = readLock(unwrapped(objectIn(answer)), path, texts);
    const since =
      told.acquired_at === undefined ? earliestGrant(course, clock, serverNow) : Date.parse(told.acquired_at);
    return {
      ...told,
      // What was asked for is what it is called by; `raw` has what the service calls it.
      path,
      type: told.type ?? type,
      etag: etagOf(answer) ?? told.etag,
      expires_at: told.expires_at ?? timestamp(since + milliseconds(ttl)),
      expiry: told.expires_at === undefined ? 'computed' : 'stated',
    };
  }

  function held(course: Course, path: LockPath): Acquisition {
    const { answer, texts, mayBeDone } = course;
    const holder = holderIn(answer);
    return {
      kind: 'held',
      holder: holder && readLock(holder, path, texts),
      retryAfterMs: retryAfterOf(answer, serverNow()),
      mayBeOurs: mayBeDone,
      error: course.refuse(answer),
    };
  }

  const without = (error: ServiceError, mayBeDone: boolean): Acquisition => ({
    kind: mayBeDone ? 'unclear' : 'failed',
    error,
  });

  function judge(course: Course, request: LockRequest): Acquisition {
    const { answer, texts, mayBeDone } = course;
    if (isSuccess(answer)) {
      const wrong = unusableThoughOptional(answer, texts);
      if (wrong !== undefined) return without(course.fail(wrong), true);
      return { kind: 'acquired', lock: taken(course, request), replayed: isReplayed(answer) };
    }
    if (answer.status === 409 || answer.status === 423) return held(course, request.path);
    return without(course.refuse(answer), mayBeDone || sendsElsewhereWhenDone(answer));
  }

  return async (request: LockRequest, within: Within): Promise<Acquisition> => {
    const { workspace, path, type, ttl, idempotencyKey, keySentBefore = false } = request;
    const outcome = await call(
      {
        method: 'POST',
        target: addresses.locks(workspace),
        headers: { 'idempotency-key': idempotencyKey },
        body: { path, type, ttl: formatDuration(ttl) },
        keySentBefore,
      },
      within,
    );
    return outcome.kind === 'answered' ? judge(outcome, request) : without(outcome.error, outcome.mayBeDone);
  };
}

/** RFC 9110 section 15.4.4: a 303 follows what has been done. */
const sendsElsewhereWhenDone = ({ status }: Answer): boolean => status === 303;

/** No standard names the header: it is called one of these. */
const isReplayed = (answer: Answer): boolean =>
  ['idempotency-replayed', 'idempotent-replayed'].some((name) => headerOf(answer, name)?.toLowerCase() === 'true');
