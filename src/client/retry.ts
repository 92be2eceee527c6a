import { problemTypePrefix } from '../interface/problem.ts';
import { type Answer, headerOf, objectIn } from './answer.ts';
import { nameIn } from './json.ts';
import { holderIn } from './known-lock.ts';
import { type RefusalContext, rawWordsOf, refusalOf } from './refusal.ts';
import type { Failure, ServiceError } from './service-error.ts';

/**
 * Why there is another attempt. Only `failed` counts as one of the `retries`: waiting until the service is ready is
 * limited by the deadline alone.
 */
export type RetryReason = 'failed' | 'limited' | 'still-running' | 'unavailable';

export type Attempt =
  /** An answer that another attempt would not change. */
  | { readonly kind: 'answered'; readonly answer: Answer }
  | {
      readonly kind: 'failed';
      readonly failure: Failure;
      /** The service can have done what was asked. */
      readonly mayBeDone: boolean;
      /** Undefined where another attempt would not help. */
      readonly reason: RetryReason | undefined;
      readonly retryAfterMs: number | undefined;
    };

const isTransientStatus = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status < 600);

function reasonOf(status: number, stillRunning: boolean, retryAfterMs = 0): RetryReason {
  if (stillRunning) return 'still-running';
  if (status === 429) return 'limited';
  return status === 503 && retryAfterMs > 0 ? 'unavailable' : 'failed';
}

export function judgeAnswer(answer: Answer, context: RefusalContext, keyMayHaveArrived: boolean): Attempt {
  const { status } = answer;
  const stillRunning = isStillRunning(answer, keyMayHaveArrived);
  if (!stillRunning && !isTransientStatus(status)) return { kind: 'answered', answer };
  const failure = refusalOf(answer, context);
  const retryAfterMs = failure.kind === 'refused' ? failure.retryAfterMs : undefined;
  return {
    kind: 'failed',
    failure,
    // A proxy in front of the service also answers so when the service has done it all.
    mayBeDone: stillRunning || status >= 500,
    reason: reasonOf(status, stillRunning, retryAfterMs),
    retryAfterMs,
  };
}

/**
 * Whether a 409 says that an earlier request with the same Idempotency-Key is still at work. Where it names neither
 * that nor a lock, this is only believed of a key that can have arrived before: for a new one it would be a riddle.
 */
export function isStillRunning(answer: Answer, keyMayHaveArrived: boolean): boolean {
  if (answer.status !== 409) return false;
  const body = objectIn(answer);
  const type = nameIn(body['type']) ?? '';
  if (type.startsWith(problemTypePrefix)) return type === `${problemTypePrefix}request-in-progress`;
  if (holderIn(answer) !== undefined) return false;
  const words = `${type} ${rawWordsOf(body) ?? ''}`;
  if (/idempoten/i.test(words) && /progress|running|outstanding|process|concurrent/i.test(words)) return true;
  return keyMayHaveArrived && headerOf(answer, 'retry-after') !== undefined;
}

const firstBackoffMs = 500;
const maxBackoffMs = 10_000;

/** Those who were refused together were told the same time to wait, and must not come back at the same moment. */
export const jitterMs = 250;

/** How long to wait after so many failed attempts, unless the server has said it. */
export function backoff(failed: number, retryAfterMs: number | undefined, random: () => number): number {
  const half = Math.min(maxBackoffMs, firstBackoffMs * 2 ** (failed - 1)) / 2;
  if (retryAfterMs === undefined) return half + random() * half;
  return Math.max(retryAfterMs + random() * jitterMs, half);
}

/** Whether the trouble may be over at the next attempt. */
export function isTransient({ failure, status }: ServiceError): boolean {
  if (failure.kind === 'aborted') return false;
  if (failure.kind === 'no-token') return failure.transient;
  if (status !== undefined) return isTransientStatus(status);
  return (
    failure.kind === 'deadline' || failure.kind === 'timeout' || (failure.kind === 'connection' && !failure.untrusted)
  );
}

/** How long the service has asked to wait. */
export function retryAfterOf({ failure }: ServiceError): number | undefined {
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
