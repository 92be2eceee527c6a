import { unlessAborted } from '../interface/timers.ts';
import type { Clock, ServerClock } from './clock.ts';
import { type Connection, connectionFailure, type SentRequest } from './connection.ts';
import { type Marks, rejectsSlashes } from './recognize.ts';
import { retryAfterHeader } from './refusal.ts';
import type { Request } from './request.ts';
import { type ClientResponse, isSuccess, parseResponse } from './response.ts';
import { type AttemptResult, classifyResponse, type FailedAttempt } from './retry.ts';
import type { Sanitizer } from './sanitizer.ts';
import type { Throttle } from './throttle.ts';
import { type StartTimer, startTimeLimit } from './time-limit.ts';

export interface AttemptOptions {
  readonly baseUrl: URL;
  /** The name of the server in errors and retries, if it is not the service. All its refusals are its own. */
  readonly server?: string | undefined;
  readonly send: Connection['send'];
  /** The timeout of each attempt. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  readonly startTimer?: StartTimer | undefined;
  readonly onResponse?: ((response: ClientResponse) => void) | undefined;
}

interface AttemptContext {
  readonly request: Request;
  readonly throttled: boolean;
  readonly sanitizer: Sanitizer;
  readonly keyMayHaveArrived: boolean;
  /** Aborted when the complete call is interrupted. */
  readonly signal: AbortSignal;
}

interface Attempt {
  /** As it was last sent. */
  readonly sent: SentRequest;
  /** Undefined if the complete call was interrupted first. */
  readonly result: AttemptResult | undefined;
}

export function createAttempt(options: AttemptOptions, throttle: Throttle, marks: Marks) {
  const { baseUrl, server, send, timeoutMs, clock, serverClock, startTimer, onResponse } = options;

  /**
   * Sends the request once, and classifies the response. If a gateway may have rejected encoded slashes, it sends the
   * request again with raw ones.
   */
  return async function attempt(sent: SentRequest, context: AttemptContext): Promise<Attempt> {
    const { request, throttled } = context;
    const { target, otherTarget } = request;
    const sentAt = clock();
    const received = await receive(sent, context);
    if (received?.kind !== 'received') return { sent, result: received };
    const { response } = received;
    observe(response, sentAt, throttled);
    const first: Attempt = { sent, result: classify(response, context) };
    if (sent.target !== target || otherTarget === undefined || !rejectsSlashes(response)) return first;
    const second = await attempt({ ...sent, target: otherTarget }, context);
    return isBetter(first.result, second.result) ? first : second;
  };

  function classify(response: ClientResponse, { request, keyMayHaveArrived }: AttemptContext): AttemptResult {
    return classifyResponse(response, {
      ...{ baseUrl, serverNow: serverClock.now(), keyMayHaveArrived },
      ...{ expect: request.expect, anySuccess: request.anySuccess },
      isUnknownRoute: (each) => request.isOptional === true && marks.isUnknownRoute(each),
      // Only the service has marks. The refusals of other servers are their own, and their successes must be complete.
      isFromService: server === undefined ? marks.isFromService : (each) => !isSuccess(each),
    });
  }

  async function receive(
    sent: SentRequest,
    { request, sanitizer, signal }: AttemptContext,
  ): Promise<{ readonly kind: 'received'; readonly response: ClientResponse } | FailedAttempt | undefined> {
    const limitMs = timeoutMs + (request.responseDelayMs ?? 0);
    const limit = startTimeLimit(limitMs, [signal], startTimer);
    try {
      const received = await unlessAborted(send(sent, limit.signal), limit.signal);
      return { kind: 'received', response: parseResponse(received, sanitizer) };
    } catch (error) {
      if (!limit.isOver() && signal.aborted) return undefined;
      const failure = limit.isOver() ? ({ kind: 'timeout', limitMs } as const) : connectionFailure(error, sanitizer);
      if (failure === undefined) throw error;
      const mayBeDone = failure.kind === 'timeout' || failure.mayHaveArrived;
      const retry = failure.kind === 'connection' && failure.untrusted ? undefined : 'failed';
      return { kind: 'failed', failure, mayBeDone, retry, retryAfterMs: undefined };
    } finally {
      limit.stop();
    }
  }

  /** Updates the clock and the rate limit from a response before the next request gets the connection. */
  function observe(response: ClientResponse, sentAt: number, throttled: boolean): void {
    serverClock.observe(response.headers);
    onResponse?.(response);
    if (server === undefined) marks.observe(response);
    if (!throttled) return;
    if (response.status === 429) throttle.onRefusal(sentAt, retryAfterHeader(response, serverClock.now()), clock());
    else throttle.onUnlimited();
  }
}

/** Whether a 404 for encoded slashes says more than the response for raw ones: their route may not exist. */
const isBetter = (encoded: AttemptResult | undefined, raw: AttemptResult | undefined): boolean =>
  encoded?.kind === 'answered' &&
  raw !== undefined &&
  (raw.kind !== 'answered' || (encoded.response.status === 404 && rejectsSlashes(raw.response)));
