import type { Answer } from '../../src/client/answer.ts';
import { type Call, createCall } from '../../src/client/call.ts';
import { createServerClock } from '../../src/client/clock.ts';
import { maxConnections, type SentRequest } from '../../src/client/connection.ts';
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
export function createVirtualCall({ time, send, onAttempt, ...parts }: CallParts): Call {
  const nothing = (): void => undefined;
  return createCall({
    ...parts,
    send(request, signal) {
      const connection = onAttempt();
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const stop = (): void => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      send(request, (answer) => time.fulfil(resolve, answer));
      return promise.finally(() => {
        signal.removeEventListener('abort', stop);
        connection.done();
      });
    },
    clock: time.now,
    serverClock: createServerClock(time.now),
    sleep: time.sleep,
    startTimer: (ms, work) => time.after(ms, () => time.fulfil(work, undefined)),
    maxConnections: maxConnections,
    secrets: [],
    headers: {},
    closed: never,
    onAnswer: nothing,
    onRetry: nothing,
    onThrottled: nothing,
  });
}
