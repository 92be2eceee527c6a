import { type Answer, readBody } from './answer.ts';
import type { Connection, Received, SentRequest } from './connection.ts';
import { connectionFailure } from './connection-failure.ts';
import type { ConnectionFailed, TimedOut } from './failure.ts';
import type { Leave } from './gate.ts';
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
  | { readonly kind: 'ended'; readonly by: 'deadline' | 'aborted'; readonly sentAt: number | undefined };

export interface AttemptParts {
  readonly connection: Connection;
  readonly gate: { enter(signal: AbortSignal): Promise<Leave | undefined> };
  readonly timeoutMs: number;
  readonly clock: Clock;
}

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

function endingOf(limit: TimeLimit, sentAt: number | undefined): Extract<Attempt, { kind: 'ended' }> {
  return { kind: 'ended', by: limit.ending() === 'deadline' ? 'deadline' : 'aborted', sentAt };
}

/** Sends a request once. The time limit of one attempt counts from when there is a place among the connections. */
export async function attempt(
  { connection, gate, timeoutMs, clock }: AttemptParts,
  request: SentRequest,
  texts: ServiceText,
  operation: TimeLimit,
): Promise<Attempt> {
  const leave = await gate.enter(operation.signal);
  if (leave === undefined) return endingOf(operation, undefined);
  const sentAt = clock();
  const limit = startTimeLimit(timeoutMs, 'timeout', [operation]);
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
    leave();
  }
  if (limit.ending() !== 'timeout') return endingOf(operation, sentAt);
  return { kind: 'lost', failure: { kind: 'timeout', limitMs: timeoutMs }, mayBeDone: true, sentAt };
}
