import { type Answer, readBody } from './answer.ts';
import type { Connection, Received, SentRequest } from './connection.ts';
import { connectionFailure } from './connection-failure.ts';
import type { ConnectionFailed, TimedOut } from './failure.ts';
import type { Clock } from './server-clock.ts';
import type { ServiceText } from './service-text.ts';
import { startTimeLimit, type TimeLimit, unlessAborted } from './time-limit.ts';

export type Attempt =
  | { readonly kind: 'answered'; readonly answer: Answer; readonly sentAt: number }
  /** No answer, or not the whole of it. */
  | {
      readonly kind: 'lost';
      readonly failure: TimedOut | ConnectionFailed;
      readonly mayBeDone: boolean;
      readonly sentAt: number;
    }
  /** The whole operation has to end. */
  | Ended;

interface Ended {
  readonly kind: 'ended';
  readonly by: 'deadline' | 'aborted';
  readonly sentAt: number | undefined;
}

export interface AttemptParts {
  readonly connection: Connection;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** What an attempt is a part of. */
export interface AttemptContext {
  readonly texts: ServiceText;
  readonly operation: TimeLimit;
  /** The service was asked to take so much longer for its answer. */
  readonly answerDelayMs: number;
}

/** Sends a request once. */
export type SendOnce = (request: SentRequest, context: AttemptContext) => Promise<Attempt>;

const truncated = (words: string): ConnectionFailed => ({
  kind: 'connection',
  code: undefined,
  words,
  mayHaveArrived: true,
  untrusted: false,
});

function attemptOf(received: Received, texts: ServiceText, sentAt: number): Attempt {
  const { status, headers, endIsUnsure } = received;
  const body = readBody(received, headers, texts);
  const claimsJson = /\bjson\b/i.test(headers['content-type'] ?? '');
  if (endIsUnsure && claimsJson && body.kind === 'other') {
    return { kind: 'lost', failure: truncated('the answer was cut in its middle'), mayBeDone: true, sentAt };
  }
  return { kind: 'answered', answer: { status, headers, body }, sentAt };
}

export const endedBy = (operation: TimeLimit, sentAt: number | undefined): Ended => ({
  kind: 'ended',
  by: operation.ending() === 'deadline' ? 'deadline' : 'aborted',
  sentAt,
});

export const createSendOnce =
  ({ connection, timeoutMs, clock }: AttemptParts): SendOnce =>
  async (request, { texts, operation, answerDelayMs }) => {
    const sentAt = clock();
    const limitMs = timeoutMs + answerDelayMs;
    const limit = startTimeLimit(limitMs, 'timeout', [operation]);
    try {
      const received = await unlessAborted(connection.send(request, limit.signal), limit.signal);
      if (received !== undefined) return attemptOf(received, texts, sentAt);
    } catch (error) {
      if (!limit.signal.aborted) {
        const failure = connectionFailure(error, texts);
        return { kind: 'lost', failure, mayBeDone: failure.mayHaveArrived, sentAt };
      }
    } finally {
      limit.lift();
    }
    if (limit.ending() !== 'timeout') return endedBy(operation, sentAt);
    return { kind: 'lost', failure: { kind: 'timeout', limitMs }, mayBeDone: true, sentAt };
  };
