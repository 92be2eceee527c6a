import type { Answer } from '../../src/client/answer.ts';
import { type Attempt, endedBy, type SendOnce } from '../../src/client/attempt.ts';
import { type Call, createCall } from '../../src/client/call.ts';
import { mostConnections, type SentRequest } from '../../src/client/connection.ts';
import { createServerClock } from '../../src/client/server-clock.ts';
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
  readonly send: (request: SentRequest, answer: (answer: Answer) => void) => void;
  /** A connection is in use while an attempt is under way. */
  readonly onAttempt: () => { readonly done: () => void };
}

const never = new AbortController().signal;

/** The client's own calls in virtual time: the timers, pauses and requests are those of the simulation. */
export function createVirtualCall(parts: CallParts): Call {
  const { time, random, baseUrl, timeoutMs, retries, send } = parts;
  const nothing = (): void => undefined;

  const sendOnce: SendOnce = (request, { operation, answerDelayMs }) => {
    const sentAt = time.now();
    const connection = parts.onAttempt();
    return new Promise((resolve) => {
      let over = false;
      const end = (attempt: Attempt): void => {
        if (over) return;
        over = true;
        stopTimer();
        operation.signal.removeEventListener('abort', cut);
        connection.done();
        time.fulfil(resolve, attempt);
      };
      const cut = (): void => end(endedBy(operation, sentAt));
      const stopTimer = time.after(timeoutMs + answerDelayMs, () =>
        end({ kind: 'lost', failure: { kind: 'timeout', limitMs: timeoutMs }, mayBeDone: true, sentAt }),
      );
      operation.signal.addEventListener('abort', cut, { once: true });
      send(request, (answer) => end({ kind: 'answered', answer, sentAt }));
    });
  };

  return createCall({
    baseUrl,
    random,
    retries,
    sendOnce,
    clock: time.now,
    serverClock: createServerClock(time.now),
    sleep: time.sleep,
    startTimer: (ms, work) => time.after(ms, () => time.fulfil(work, undefined)),
    maxConnections: mostConnections,
    secrets: [],
    headers: {},
    closed: never,
    onAnswer: nothing,
    onRetry: nothing,
    onPaced: nothing,
  });
}
