import { problemTypePrefix } from '../interface/problem.ts';
import { type Answer, headerOf, isSuccess, objectIn } from './answer.ts';
import { nameIn } from './json.ts';
import { holderIn } from './known-lock.ts';
import { type RefusalContext, rawWordsOf, refusalOf } from './refusal.ts';
import type { ConnectionFailed, Failure, TimedOut } from './service-error.ts';

export type Attempt =
  | { readonly kind: 'answered'; readonly answer: Answer }
  /** No answer, or not the whole of it. */
  | { readonly kind: 'lost'; readonly failure: TimedOut | ConnectionFailed; readonly mayBeDone: boolean };

const worthRetrying = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status < 600);

/**
 * Why there is another attempt. Only one that failed is one of the `retries`: to wait until the service is ready is
 * limited by the deadline alone.
 */
export type RetryReason = 'failed' | 'limited' | 'still-running' | 'unavailable';

export type Judgement =
  | { readonly kind: 'end'; readonly answer: Answer }
  | { readonly kind: 'stop'; readonly failure: Failure; readonly mayBeDone: boolean }
  | {
      readonly kind: 'again';
      readonly reason: RetryReason;
      readonly failure: Failure;
      readonly mayBeDone: boolean;
      readonly retryAfterMs: number | undefined;
    };

function reasonOf(status: number, stillRunning: boolean, retryAfterMs = 0): RetryReason {
  if (stillRunning) return 'still-running';
  if (status === 429) return 'limited';
  return status === 503 && retryAfterMs > 0 ? 'unavailable' : 'failed';
}

function judgeAnswer(answer: Answer, context: RefusalContext, keyMayHaveArrived: boolean): Judgement {
  if (isSuccess(answer)) return { kind: 'end', answer };
  const { status } = answer;
  const stillRunning = isStillRunning(answer, keyMayHaveArrived);
  if (!stillRunning && !worthRetrying(status)) return { kind: 'end', answer };
  const failure = refusalOf(answer, context);
  const retryAfterMs = failure.kind === 'refused' ? failure.retryAfterMs : undefined;
  const reason = reasonOf(status, stillRunning, retryAfterMs);
  // What stands in front of a service also answers when the service has done it all.
  const mayBeDone = stillRunning || status >= 500;
  return { kind: 'again', reason, failure, mayBeDone, retryAfterMs };
}

/** What an attempt means for the operation: its end, or another attempt. */
export function judge(tried: Attempt, context: RefusalContext, keyMayHaveArrived: boolean): Judgement {
  switch (tried.kind) {
    case 'answered':
      return judgeAnswer(tried.answer, context, keyMayHaveArrived);
    case 'lost': {
      const { failure, mayBeDone } = tried;
      if (failure.kind === 'connection' && failure.untrusted) return { kind: 'stop', failure, mayBeDone };
      return { kind: 'again', reason: 'failed', failure, mayBeDone, retryAfterMs: undefined };
    }
  }
}

const ours = `${problemTypePrefix}request-in-progress`;

/**
 * Whether a 409 says that an earlier request with the same Idempotency-Key is still at work. Where it names neither
 * that nor a lock, this is only believed of a key that can have arrived before: for a new one it would be a riddle.
 */
export function isStillRunning(answer: Answer, keyMayHaveArrived: boolean): boolean {
  if (answer.status !== 409) return false;
  const body = objectIn(answer);
  const type = nameIn(body['type']) ?? '';
  if (type.startsWith(problemTypePrefix)) return type === ours;
  if (holderIn(answer) !== undefined) return false;
  const words = `${type} ${rawWordsOf(body) ?? ''}`;
  if (/idempoten/i.test(words) && /progress|running|outstanding|process|concurrent/i.test(words)) return true;
  return keyMayHaveArrived && headerOf(answer, 'retry-after') !== undefined;
}

const first = 500;
const longest = 10_000;

/** Everybody who was sent away at the same moment was told the same time to wait. */
const spread = 250;

/** How long to wait after so many failed attempts, unless the server has said it. */
export function backoff(failed: number, retryAfterMs: number | undefined, random: () => number): number {
  const half = Math.min(longest, first * 2 ** (failed - 1)) / 2;
  if (retryAfterMs === undefined) return half + random() * half;
  return Math.max(retryAfterMs + random() * spread, half);
}
