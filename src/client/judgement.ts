import { type Answer, isSuccess } from './answer.ts';
import type { ConnectionFailed, Failure, TimedOut } from './failure.ts';
import { type RefusalContext, refusalOf } from './refusal.ts';
import { isStillRunning } from './still-running.ts';

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
