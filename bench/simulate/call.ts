import type { Answer } from '../../src/client/answer.ts';
import type { Attempt } from '../../src/client/attempt.ts';
import { backoff } from '../../src/client/backoff.ts';
import type { Call, Outcome, Request, Within } from '../../src/client/call.ts';
import type { Failure } from '../../src/client/failure.ts';
import { judge } from '../../src/client/judgement.ts';
import { refusalOf } from '../../src/client/refusal.ts';
import { ServiceError } from '../../src/client/service-error.ts';
import { createServiceText } from '../../src/client/service-text.ts';
import type { Random } from './chance.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface CallParts {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly baseUrl: URL;
  /** For each attempt. */
  readonly timeoutMs: number;
  /** Attempts after the first. */
  readonly retries: number;
  readonly send: (request: Request, answer: (answer: Answer) => void) => void;
  /** A connection is in use while an attempt is under way. */
  readonly onAttempt: () => { readonly done: () => void };
}

const texts = createServiceText([]);

/**
 * The attempts and pauses of src/client/call.ts in virtual time: the timers that end an attempt there are those of the
 * machine. What an answer means and how long a pause is are the client's own; a test holds the rest to it.
 */
export function createVirtualCall(parts: CallParts): Call {
  const { time, random, baseUrl, timeoutMs, retries, send } = parts;

  function attempt(request: Request, deadline: number): Promise<Attempt> {
    const sentAt = time.now();
    const attemptEnds = sentAt + timeoutMs;
    const connection = parts.onAttempt();
    return new Promise((resolve) => {
      let over = false;
      const end = (result: Attempt): void => {
        if (over) return;
        over = true;
        connection.done();
        time.fulfil(resolve, result);
      };
      send(request, (answer) => {
        inTime();
        end({ kind: 'answered', answer, sentAt });
      });
      const inTime = time.after(Math.min(attemptEnds, deadline) - sentAt, () =>
        end(
          deadline <= attemptEnds
            ? { kind: 'ended', by: 'deadline', sentAt }
            : { kind: 'lost', failure: { kind: 'timeout', limitMs: timeoutMs }, mayBeDone: true, sentAt },
        ),
      );
    });
  }

  return async (request: Request, { deadline }: Within): Promise<Outcome> => {
    const path = request.target;
    let sentAt: number | undefined;
    let attempts = 0;
    let failed = 0;
    let counted = 0;
    let mayBeDone = request.keySentBefore === true;
    let last: Failure | undefined;

    const context = { baseUrl, texts, serverNow: time.now() };
    const fail = (failure: Failure): ServiceError =>
      new ServiceError({ method: request.method, path, attempts }, failure);
    const refuse = (answer: Answer): ServiceError => fail(refusalOf(answer, context));
    const course = () => ({ texts, sentAt: sentAt ?? time.now(), mayBeDone, fail, refuse });
    const giveUp = (failure: Failure): Outcome => ({ kind: 'given-up', error: fail(failure), ...course() });

    for (;;) {
      if (time.now() >= deadline) return giveUp({ kind: 'deadline', last, retryAfterMs: undefined });
      const tried = await attempt(request, deadline);
      sentAt ??= tried.sentAt;
      attempts += 1;
      const judgement = judge(tried, context, mayBeDone);
      if (judgement.kind === 'end') return { kind: 'answered', answer: judgement.answer, ...course() };

      const { failure } = judgement;
      mayBeDone ||= judgement.mayBeDone;
      if (judgement.kind === 'stop') return giveUp(failure.kind === 'deadline' ? { ...failure, last } : failure);

      last = failure;
      failed += 1;
      if (judgement.counts) counted += 1;
      if (counted > retries) return giveUp(failure);
      const { retryAfterMs } = judgement;
      const delayMs = backoff(failed, retryAfterMs, random);
      const timeLeft = deadline - time.now();
      if (delayMs >= timeLeft) {
        const asked = retryAfterMs !== undefined && retryAfterMs >= timeLeft ? retryAfterMs : undefined;
        return giveUp({ kind: 'deadline', last: failure, retryAfterMs: asked });
      }
      await time.sleep(delayMs);
    }
  };
}
