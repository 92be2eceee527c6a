import { problemTypePrefix } from '../interface/problem.ts';
import { nameIn } from './json.ts';
import { namesHolder } from './known-lock.ts';
import { isDisputed, isOwnProblem } from './recognize.ts';
import { type RefusalContext, rawWordsOf, refusalOf } from './refusal.ts';
import type { Request, RetryKind } from './request.ts';
import { type ClientResponse, headerOf, isSuccess, objectIn } from './response.ts';
import type { RequestFailure, ServiceError } from './service-error.ts';

export type AttemptResult =
  /** An answer that another attempt would not change. */
  | { readonly kind: 'answered'; readonly response: ClientResponse }
  | {
      readonly kind: 'failed';
      readonly failure: RequestFailure;
      /** The request may have taken effect. */
      readonly mayBeDone: boolean;
      /** Undefined where another attempt would not help. */
      readonly retry: RetryKind | undefined;
      readonly retryAfterMs: number | undefined;
      /** An answer that may be a gateway's: it counts only if something else confirms it. */
      readonly unrecognized?: ClientResponse | undefined;
    };

interface ResponseContext extends RefusalContext {
  readonly keyMayHaveArrived: boolean;
  readonly expect: Request['expect'];
  readonly isRecognized: (response: ClientResponse) => boolean;
}

export function classifyResponse(response: ClientResponse, context: ResponseContext): AttemptResult {
  const { status } = response;
  if (isSuccess(response)) {
    const failure = context.expect?.(response, context.texts);
    return failure === undefined ? { kind: 'answered', response } : unrecognized(response, failure);
  }
  const stillRunning = isStillRunning(response, context.keyMayHaveArrived);
  const isTransientResponse = stillRunning || isTransientStatus(status);
  if (!isTransientResponse && isDisputed(status) && !context.isRecognized(response)) {
    return unrecognized(response, { ...refusalOf(response, context), isRecognized: false });
  }
  if (!isTransientResponse) return { kind: 'answered', response };
  const failure = refusalOf(response, context);
  const retryAfterMs = failure.kind === 'refused' ? failure.retryAfterMs : undefined;
  return {
    kind: 'failed',
    failure,
    // A proxy in front of the service also answers so when the service has done it all.
    mayBeDone: stillRunning || status >= 500,
    retry: retryKindOf(status, stillRunning, retryAfterMs),
    retryAfterMs,
  };
}

const firstBackoffMs = 500;
const maxBackoffMs = 10_000;

/** Clients refused together get the same time to wait, and must not come back at the same moment. */
export const jitterMs = 250;

/** The pause after a number of failed attempts, unless the server sent one. */
export function backoff(
  failed: number,
  retryAfterMs: number | undefined,
  random: () => number,
  maxMs = maxBackoffMs,
): number {
  const half = Math.min(maxMs, firstBackoffMs * 2 ** (failed - 1)) / 2;
  if (retryAfterMs === undefined) return half + random() * half;
  return Math.max(retryAfterMs + random() * jitterMs, half);
}

/** Whether the trouble may be over at the next attempt. */
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

/** How long the service has asked to wait. */
export function retryAfterOfError({ failure }: ServiceError): number | undefined {
  return failure.kind === 'deadline' || failure.kind === 'refused' ? failure.retryAfterMs : undefined;
}

const minLastAttemptMs = 300;
const maxLastAttemptMs = 5_000;

/**
 * How long before the end of a wait the last attempt begins, so that it is over by then: twice as long as the attempt
 * before it took, because the last one may be slower.
 */
export const lastAttemptMs = (previousTookMs: number): number =>
  Math.min(maxLastAttemptMs, Math.max(minLastAttemptMs, 2 * previousTookMs));

/**
 * Whether a 409 says that an earlier request with the same Idempotency-Key is still at work. Where it names neither
 * that nor a lock, this is only believed of a key that can have arrived before: for a new one it would be a riddle.
 */
export function isStillRunning(response: ClientResponse, keyMayHaveArrived: boolean): boolean {
  if (response.status !== 409) return false;
  const body = objectIn(response);
  const type = nameIn(body['type']) ?? '';
  if (isOwnProblem(response)) return type === `${problemTypePrefix}request-in-progress`;
  if (namesHolder(response)) return false;
  const words = `${type} ${rawWordsOf(body) ?? ''}`;
  if (/idempoten/i.test(words) && /progress|running|outstanding|process|concurrent/i.test(words)) return true;
  return keyMayHaveArrived && headerOf(response, 'retry-after') !== undefined;
}

const isTransientStatus = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status < 600);

function retryKindOf(status: number, stillRunning: boolean, retryAfterMs = 0): RetryKind {
  if (stillRunning) return 'still-running';
  if (status === 429) return 'limited';
  return status === 503 && retryAfterMs > 0 ? 'unavailable' : 'failed';
}

/** It proves nothing, not even that the service has done nothing. */
const unrecognized = (response: ClientResponse, failure: RequestFailure): AttemptResult => ({
  kind: 'failed',
  failure,
  mayBeDone: true,
  // It would be received once more.
  retry: failure.kind === 'too-large' ? undefined : 'failed',
  retryAfterMs: failure.kind === 'refused' ? failure.retryAfterMs : undefined,
  unrecognized: response,
});
