import { type Answer, isSuccess } from './answer.ts';
import type { Attempt } from './attempt.ts';
import type { Failure, Redirected, Refused } from './failure.ts';
import { type RefusalContext, refusalOf } from './refusal.ts';
import { isStillRunning } from './still-running.ts';

const worthRetrying = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status < 600);

export type Judgement =
  | { readonly kind: 'end'; readonly answer: Answer }
  | { readonly kind: 'stop'; readonly failure: Failure; readonly mayBeDone: boolean }
  | {
      readonly kind: 'again';
      readonly failure: Failure;
      readonly mayBeDone: boolean;
      readonly retryAfterMs: number | undefined;
      /** A request that is still running is waited for as long as there is time. */
      readonly counts: boolean;
    };

const retryAfterIn = (failure: Refused | Redirected): number | undefined =>
  failure.kind === 'refused' ? failure.retryAfterMs : undefined;

function judgeAnswer(answer: Answer, context: RefusalContext, keyMayHaveArrived: boolean): Judgement {
  if (isSuccess(answer)) return { kind: 'end', answer };
  const stillRunning = isStillRunning(answer, keyMayHaveArrived);
  if (!stillRunning && !worthRetrying(answer.status)) return { kind: 'end', answer };
  const failure = refusalOf(answer, context);
  // What stands in front of a service also answers when the service has done it all.
  const mayBeDone = stillRunning || answer.status >= 500;
  return { kind: 'again', failure, mayBeDone, retryAfterMs: retryAfterIn(failure), counts: !stillRunning };
}

/** What an attempt means for the operation: its end, or another attempt. */
export function judge(tried: Attempt, context: RefusalContext, keyMayHaveArrived: boolean): Judgement {
  switch (tried.kind) {
    case 'answered':
      return judgeAnswer(tried.answer, context, keyMayHaveArrived);
    case 'lost': {
      const { failure, mayBeDone } = tried;
      if (failure.kind === 'connection' && failure.untrusted) return { kind: 'stop', failure, mayBeDone };
      return { kind: 'again', failure, mayBeDone, retryAfterMs: undefined, counts: true };
    }
    case 'ended': {
      const failure: Failure =
        tried.by === 'aborted' ? { kind: 'aborted' } : { kind: 'deadline', last: undefined, retryAfterMs: undefined };
      return { kind: 'stop', failure, mayBeDone: tried.sentAt !== undefined };
    }
  }
}
