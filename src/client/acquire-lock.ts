import { formatDuration, milliseconds } from '../interface/duration.ts';
import type { LockPath } from '../interface/lock-path.ts';
import type { Ttl } from '../interface/ttl.ts';
import type { WorkspaceId } from './access.ts';
import { type Answer, headerOf, isSuccess, objectIn } from './answer.ts';
import type { AnsweredCall, ClientContext, Within } from './call.ts';
import { timestamp } from './clock.ts';
import { etagOf, holderOf, type KnownLock, readListedLock, readLock, unwrapped } from './known-lock.ts';
import { entriesOf } from './pages.ts';
import { retryAfterOf, unusableThoughOptional } from './refusal.ts';
import type { ServiceError } from './service-error.ts';

export interface LockRequest {
  readonly workspace: WorkspaceId;
  readonly path: LockPath;
  readonly type: string;
  readonly ttl: Ttl;
  /** For those who find the path locked. It is sent only where there is one: not every service knows notes. */
  readonly note?: string | undefined;
  /** The same key with the same request asks for the same lock again. */
  readonly idempotencyKey: string;
  /** The key may have been sent before this call: what is asked now is how that went. */
  readonly keySentBefore?: boolean | undefined;
}

export interface TakenLock extends KnownLock {
  readonly path: LockPath;
  readonly type: string;
  /** Where the service does not state it, the earliest that it can be by the ttl. */
  readonly expires_at: string | undefined;
}

export type Acquisition =
  /** `replayed`: the service remembered the answer, because an earlier request with the same key took the lock. */
  | { readonly kind: 'acquired'; readonly lock: TakenLock; readonly replayed: boolean }
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

/** The lock of an answer that grants one; `from` is the earliest moment at which its ttl can have begun. */
export function grantedIn(
  { answer, texts }: Pick<AnsweredCall, 'answer' | 'texts'>,
  { path, type, ttl }: Pick<LockRequest, 'path' | 'type' | 'ttl'>,
  from: (lock: KnownLock) => number,
): TakenLock {
  const lock = readLock(unwrapped(objectIn(answer)), path, texts);
  return {
    ...lock,
    // What was asked for is what it is called by; `raw` has what the service calls it.
    path,
    type: lock.type ?? type,
    etag: etagOf(answer) ?? lock.etag,
    expires_at: lock.expires_at ?? timestamp(from(lock) + milliseconds(ttl)),
  };
}

export const createAcquireLock = ({ call, addresses, clock, serverNow }: ClientContext) => {
  function acquired(answered: AnsweredCall, request: LockRequest): Acquisition {
    // The earliest moment at which it can have been acquired: when the request set out, by the clock of the server.
    const earliest = serverNow() - (clock() - answered.sentAt);
    const from = ({ acquired_at }: KnownLock): number =>
      acquired_at === undefined ? earliest : Date.parse(acquired_at);
    return {
      kind: 'acquired',
      lock: grantedIn(answered, request, from),
      replayed: isReplayed(answered.answer),
    };
  }

  function held({ answer, texts, mayBeDone, refuse }: AnsweredCall, path: LockPath): Acquisition {
    return {
      kind: 'held',
      holder: holderOf(answer, path, texts),
      retryAfterMs: retryAfterOf(answer, serverNow()),
      mayBeOurs: mayBeDone,
      error: refuse(answer),
    };
  }

  return async (request: LockRequest, within: Within): Promise<Acquisition> => {
    const { workspace, path, type, ttl, note, idempotencyKey, keySentBefore = false } = request;
    const result = await call(
      {
        method: 'POST',
        target: addresses.locks(workspace),
        headers: { 'idempotency-key': idempotencyKey },
        body: { path, type, ttl: formatDuration(ttl), ...(note !== undefined && { note }) },
        keySentBefore,
      },
      within,
    );
    const without = (error: ServiceError, mayBeDone = result.mayBeDone): Acquisition => ({
      kind: mayBeDone ? 'unclear' : 'failed',
      error,
    });
    if (result.kind === 'given-up') return without(result.error);
    const { answer, texts } = result;
    if (isSuccess(answer)) {
      const wrong = unusableThoughOptional(answer, texts);
      return wrong === undefined ? acquired(result, request) : without(result.fail(wrong), true);
    }
    if (answer.status === 409 || answer.status === 423) return held(result, path);
    // RFC 9110 section 15.4.4: a 303 follows what has been done.
    return without(result.refuse(answer), result.mayBeDone || answer.status === 303);
  };
};

/** No standard names the header: it is called one of these. */
const isReplayed = (answer: Answer): boolean =>
  ['idempotency-replayed', 'idempotent-replayed'].some((name) => headerOf(answer, name)?.toLowerCase() === 'true');

export interface WaitRequest {
  readonly workspace: WorkspaceId;
  readonly path: LockPath;
  /** For how long the service is asked to hold its answer back. */
  readonly seconds: number;
}

export type WaitResult =
  | { readonly kind: 'free' }
  | { readonly kind: 'held'; readonly holder: KnownLock }
  /** The service does not wait, or does not say what it has waited for. */
  | { readonly kind: 'unsupported' }
  /** There was no answer. */
  | { readonly kind: 'failed' };

/** RFC 7240 section 3: `wait` is among what the service says it has heeded. */
const waited = (applied: string | undefined): boolean => /(^|[,;\s])wait($|[=,;\s])/i.test(applied ?? '');

/** Asks the service to answer when a path comes free, or when the time is over (RFC 7240, `Prefer: wait`). */
export const createWaitForRelease =
  ({ call, addresses }: ClientContext) =>
  async ({ workspace, path, seconds }: WaitRequest, within: Within): Promise<WaitResult> => {
    const result = await call(
      {
        method: 'GET',
        target: `${addresses.locks(workspace)}?${new URLSearchParams({ path })}`,
        headers: { prefer: `wait=${seconds}` },
        attempts: 'once',
        answerDelayMs: seconds * 1_000,
      },
      within,
    );
    if (result.kind === 'given-up') return { kind: 'failed' };
    const { answer, texts } = result;
    const entries = answer.body.kind === 'json' ? entriesOf(answer.body.value, 'locks') : undefined;
    if (!isSuccess(answer) || !waited(headerOf(answer, 'preference-applied')) || entries === undefined) {
      return { kind: 'unsupported' };
    }
    const holder = entries.map((entry) => readListedLock(entry, texts)).find((lock) => lock?.path === path);
    return holder === undefined ? { kind: 'free' } : { kind: 'held', holder };
  };
