import { problemTypePrefix } from '../interface/problem.ts';
import { nameIn } from './json.ts';
import { namesHolder } from './known-lock.ts';
import { isDisputed, isOwnProblem } from './recognize.ts';
import { type RefusalContext, rawMessageOf, refusalOf } from './refusal.ts';
import type { Request, Retry, RetryKind } from './request.ts';
import { type ClientResponse, headerOf, isSuccess, objectIn } from './response.ts';
import type { RequestFailure, ServiceError } from './service-error.ts';

export type AttemptResult =
  /** A response that another attempt would not change. */
  | { readonly kind: 'answered'; readonly response: ClientResponse }
  | {
      readonly kind: 'failed';
      readonly failure: RequestFailure;
      /** The request may have taken effect. */
      readonly mayBeDone: boolean;
      /** Undefined if another attempt would not help. */
      readonly retry: RetryKind | undefined;
      readonly retryAfterMs: number | undefined;
      /** A response that may be from a gateway: it counts only if it is confirmed in another way. */
      readonly unrecognized?: ClientResponse | undefined;
    };

export type FailedAttempt = Extract<AttemptResult, { kind: 'failed' }>;

interface ResponseContext extends RefusalContext {
  readonly keyMayHaveArrived: boolean;
  readonly expect: Request['expect'];
  readonly anySuccess: Request['anySuccess'];
  /** Whether a response without marks counts as the service's own. */
  readonly isFromService: (response: ClientResponse) => boolean;
  /** Whether the server does not know the route, which another attempt would not change. */
  readonly isUnknownRoute: (response: ClientResponse) => boolean;
}

export function classifyResponse(response: ClientResponse, context: ResponseContext): AttemptResult {
  const { status } = response;
  if (isSuccess(response)) {
    const failure = context.expect?.(response);
    if (failure === undefined) return { kind: 'answered', response };
    if (!context.isFromService(response)) return unrecognized(response, failure);
    // The service would send the same again.
    return context.anySuccess
      ? { kind: 'answered', response }
      : { ...unrecognized(response, failure), retry: undefined };
  }
  if (context.isUnknownRoute(response)) return { kind: 'answered', response };
  const stillRunning = isStillRunning(response, context.keyMayHaveArrived);
  const isTransientResponse = stillRunning || isTransientStatus(status);
  if (!isTransientResponse && isDisputed(status) && !isOwnProblem(response) && !context.isFromService(response)) {
    return unrecognized(response, { ...refusalOf(response, context), isRecognized: false });
  }
  if (!isTransientResponse) return { kind: 'answered', response };
  const failure = refusalOf(response, context);
  const retryAfterMs = failure.kind === 'refused' ? failure.retryAfterMs : undefined;
  return {
    kind: 'failed',
    failure,
    // A proxy may send the same after the service has done the work.
    mayBeDone: stillRunning || status >= 500,
    retry: retryKindOf(status, stillRunning, retryAfterMs),
    retryAfterMs,
  };
}

export interface Progress {
  readonly attempts: number;
  readonly failures: number;
  /** Failures that count as one of the `retries`. */
  readonly counted: number;
  /** The request may have taken effect. */
  readonly mayBeDone: boolean;
}

/** `failed` is undefined if the attempt was interrupted. */
export function progressAfter(progress: Progress, failed: FailedAttempt | undefined): Progress {
  if (failed === undefined) return { ...progress, mayBeDone: true };
  return {
    ...progress,
    failures: progress.failures + 1,
    counted: progress.counted + (failed.retry === 'failed' ? 1 : 0),
    mayBeDone: progress.mayBeDone || failed.mayBeDone,
  };
}

interface RetryLimits {
  readonly retries: number;
  /** No retry after an attempt that may have taken effect. */
  readonly once: boolean;
  readonly timeLeftMs: number;
  /** The pause that all requests share because of the rate limit; undefined if this one waits on its own. */
  readonly limitedForMs: number | undefined;
  readonly maxBackoffMs: number | undefined;
  readonly isLastChance?: boolean | undefined;
  readonly random: () => number;
}

type NextStep =
  | { readonly kind: 'give-up'; readonly failure: RequestFailure }
  | { readonly kind: 'retry'; readonly retry: Omit<Retry, 'reason'> };

export function nextStep(failed: FailedAttempt, progress: Progress, limits: RetryLimits): NextStep {
  const { failure, retry, retryAfterMs } = failed;
  const { retries, once, timeLeftMs, limitedForMs, maxBackoffMs, isLastChance, random } = limits;
  if (retry === undefined || progress.counted > retries || (once && progress.mayBeDone)) {
    return { kind: 'give-up', failure };
  }
  const askedMs = limitedForMs ?? backoff(progress.failures, retryAfterMs, random, maxBackoffMs);
  const isTooLate = askedMs >= timeLeftMs && isLastChance === true;
  const delayMs = isTooLate ? backoff(progress.failures, undefined, random, maxBackoffMs) : askedMs;
  if (delayMs < timeLeftMs) return { kind: 'retry', retry: { kind: retry, delayMs } };
  const asked = retryAfterMs !== undefined && retryAfterMs >= timeLeftMs ? retryAfterMs : undefined;
  return { kind: 'give-up', failure: { kind: 'deadline', last: failure, retryAfterMs: asked } };
}

const firstBackoffMs = 500;
const maxBackoffMs = 10_000;

/** Clients that are refused together get the same retry time, and must not all return at once. */
const jitterMs = 250;

/** The pause after a number of failed attempts, unless the server sent one. */
export function backoff(
  failed: number,
  retryAfterMs: number | undefined,
  random: () => number,
  maxMs = maxBackoffMs,
): number {
  const ms = Math.min(maxMs, firstBackoffMs * 2 ** (failed - 1));
  if (retryAfterMs === undefined) return withJitter(ms, random);
  return Math.max(retryAfterMs + random() * jitterMs, ms / 2);
}

/** Between half of the time and all of it, so that clients that failed together do not return together. */
export const withJitter = (ms: number, random: () => number): number => ms * (0.5 + random() / 2);

export function isTransient({ failure }: ServiceError): boolean {
  switch (failure.kind) {
    case 'refused':
    case 'redirected':
      return !failure.isRecognized || isTransientStatus(failure.status);
    case 'not-json':
    case 'not-understood':
    case 'timeout':
    case 'deadline':
      return true;
    case 'connection':
      return !failure.untrusted;
    case 'no-token':
      return failure.transient;
    case 'too-large':
    case 'aborted':
    case 'unsendable':
      return false;
  }
}

export function retryAfterOfError({ failure }: ServiceError): number | undefined {
  return failure.kind === 'deadline' || failure.kind === 'refused' ? failure.retryAfterMs : undefined;
}

const minLastAttemptMs = 300;
const maxLastAttemptMs = 5_000;

/**
 * The time reserved for the last attempt before a deadline: twice as long as the previous attempt took, because the
 * last one may be slower.
 */
export const lastAttemptMs = (previousElapsedMs: number): number =>
  Math.min(maxLastAttemptMs, Math.max(minLastAttemptMs, 2 * previousElapsedMs));

/**
 * Whether a 409 means that an earlier request with the same Idempotency-Key is still running. If it names neither that
 * nor a lock, this is assumed only for a key that may have arrived before: for a new key, it would make no sense.
 */
export function isStillRunning(response: ClientResponse, keyMayHaveArrived: boolean): boolean {
  if (response.status !== 409) return false;
  const body = objectIn(response);
  const type = nameIn(body['type']) ?? '';
  if (isOwnProblem(response)) return type === `${problemTypePrefix}request-in-progress`;
  if (namesHolder(response)) return false;
  const message = `${type} ${rawMessageOf(body) ?? ''}`;
  if (/idempoten/i.test(message) && /progress|running|outstanding|process|concurrent/i.test(message)) return true;
  return keyMayHaveArrived && headerOf(response, 'retry-after') !== undefined;
}

const isTransientStatus = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status < 600);

function retryKindOf(status: number, stillRunning: boolean, retryAfterMs = 0): RetryKind {
  if (stillRunning) return 'still-running';
  if (status === 429) return 'limited';
  return status === 503 && retryAfterMs > 0 ? 'unavailable' : 'failed';
}

/** An unrecognized response proves nothing, not even that the request had no effect. */
const unrecognized = (response: ClientResponse, failure: RequestFailure): FailedAttempt => ({
  kind: 'failed',
  failure,
  mayBeDone: true,
  // The same oversized response would be received again.
  retry: failure.kind === 'too-large' ? undefined : 'failed',
  retryAfterMs: failure.kind === 'refused' ? failure.retryAfterMs : undefined,
  unrecognized: response,
});
