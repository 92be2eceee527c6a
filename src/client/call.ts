import { formatElapsed } from '../interface/format.ts';
import { unlessAborted } from '../interface/timers.ts';
import { type AttemptResult, classifyResponse, type FailedAttempt, type Marks, noMarks } from './classify.ts';
import { type Connection, connectionFailure, maxConnections, type SentRequest } from './connection.ts';
import { createSemaphore } from './in-parallel.ts';
import type { FoundLock } from './known-lock.ts';
import { isOwnProblem, refusalOf } from './refusal.ts';
import {
  type Call,
  type CallLimits,
  type CallResult,
  type Request,
  type Retry,
  sentRequest,
  type TokenSource,
} from './request.ts';
import { type ClientResponse, isSuccess, parseResponse } from './response.ts';
import { createSanitizer } from './sanitizer.ts';
import { type Failure, outOfTime, ServiceError, unanswered, withRequest } from './service-error.ts';
import { backoff, type Clock, type ServerClock, startTimeLimit } from './time.ts';

export interface CallOptions {
  readonly baseUrl: URL;
  /** Name of the server in errors and retries, if it is not the service. */
  readonly server?: string | undefined;
  readonly send: Connection['send'];
  /** The timeout of each attempt. */
  readonly timeoutMs: number;
  /** Attempts after the first. */
  readonly retries: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** Opens the source of tokens with the first request. Without it, requests are sent with only these headers. */
  readonly openTokens?: (() => Promise<TokenSource>) | undefined;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly closed: AbortSignal;
  /** Decides which responses are from the service. Without it, every refusal counts as the server's own. */
  readonly marks?: Marks;
  readonly maxConnections?: number;
  readonly onResponse?: ((response: ClientResponse) => void) | undefined;
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

const theService = 'The service';

/** Sends every request, and retries it until the response is final. */
export function createCall(options: CallOptions): Call {
  const { clock, random, server = theService } = options;
  // A request that pauses before its next attempt does not occupy a connection.
  const enterConnection = createSemaphore(options.maxConnections ?? maxConnections);
  const attempt = createAttempt(options);
  let tokens: Promise<TokenSource> | undefined;

  return async function call(request: Request, within: CallLimits): Promise<CallResult> {
    const { deadline, signal } = within;
    const limit = startTimeLimit(deadline - clock(), [options.closed, ...(signal ? [signal] : [])]);
    const secrets = [...options.secrets, ...(request.secrets ?? [])];
    const once = request.once || request.waitMs !== undefined;
    const state: CallState = {
      sent: sentRequest(request, options.headers),
      secrets,
      attempts: 0,
      counted: 0,
      mayBeDone: request.keySentBefore === true,
      firstSentAt: undefined,
      last: undefined,
    };
    let isTokenReplaced = false;

    try {
      for (;;) {
        if (isInterrupted()) return giveUpInterrupted();
        tokens ??= options.openTokens?.();
        const source = await tokens;
        const issued = await source?.get(within, limit.signal);
        if (typeof issued === 'object') return giveUp(issued);
        if (issued !== undefined) useToken(issued);
        const release = await enterConnection(limit.signal);
        // The time limit may have been reached while the request waited for a connection.
        if (release === undefined || isInterrupted()) {
          release?.();
          return giveUpInterrupted();
        }

        state.firstSentAt ??= clock();
        state.attempts += 1;
        const result = await attempt(state, request, limit.signal).finally(release);
        if (result?.kind === 'answered') {
          const { response } = result;
          if (issued === undefined || response.status !== 401) return answered(response);
          if (!isTokenReplaced) {
            source?.invalidate(issued);
            isTokenReplaced = true;
            continue;
          }
          const reason = 'The service rejected the token that it had just issued to this job. Its log has the reason.';
          const { request: tokenRequest } = errorOf(state, refusalOf(response));
          return giveUp({ kind: 'no-token', reason, tokenRequest, isTransient: false });
        }
        const { unrecognized } = result ?? {};
        const found = unrecognized && (await request.confirm?.(unrecognized, within));
        if (found) return answered(unrecognized, found);
        state.mayBeDone ||= result === undefined || result.mayBeDone;
        if (result === undefined) return giveUpInterrupted();
        const failure = await pauseAfter(result);
        if (failure !== undefined) return giveUp(failure);
      }
    } finally {
      limit.stop();
    }

    function useToken(token: string): void {
      state.sent = { ...state.sent, headers: { ...state.sent.headers, authorization: `Bearer ${token}` } };
      state.secrets = [...secrets, token];
    }

    /** Pauses before the next attempt. Returns the final failure if there is none. */
    async function pauseAfter({ failure, retry }: FailedAttempt): Promise<Failure | undefined> {
      state.last = failure;
      if (retry === 'counted') state.counted += 1;
      const isUsedUp = once ? state.counted > 0 || state.mayBeDone : state.counted > options.retries;
      if (retry === undefined || isUsedUp) return failure;
      const { retryAfterMs } = failure;
      const timeLeftMs = deadline - clock();
      // `maxBackoffMs` is for a service that comes back, not for one that refuses too many requests.
      const maxMs = failure.status === 429 ? undefined : within.maxBackoffMs;
      const pauseMs = (askedMs?: number) => backoff(state.attempts - (isTokenReplaced ? 1 : 0), askedMs, random, maxMs);
      const askedMs = pauseMs(retryAfterMs);
      const delayMs = askedMs >= timeLeftMs && within.isLastChance ? pauseMs() : askedMs;
      if (delayMs >= timeLeftMs) {
        const asked = retryAfterMs !== undefined && retryAfterMs >= timeLeftMs ? retryAfterMs : undefined;
        return outOfTime(server, failure, asked);
      }
      // Without the advice of the error, because the request is retried.
      const { reason, request: sentBefore } = errorOf(state, failure);
      const named = options.server === undefined ? reason : `${options.server}: ${reason}`;
      options.onRetry?.({ delayMs, reason: withRequest(named, sentBefore) });
      await options.sleep(delayMs, limit.signal);
      return undefined;
    }

    function isInterrupted(): boolean {
      return limit.signal.aborted || clock() >= deadline;
    }

    function giveUpInterrupted(): CallResult {
      if (limit.signal.aborted && !limit.isOver()) {
        return giveUp({ kind: 'aborted', reason: 'The request was cancelled.', isTransient: false });
      }
      const { last } = state;
      return giveUp(last === undefined ? unanswered('deadline', server, 'in time') : outOfTime(server, last));
    }

    function answered(response: ClientResponse, found?: FoundLock): CallResult {
      const { firstSentAt = clock(), mayBeDone } = state;
      const answer = { response, found, mayBeDone, sentAt: options.serverClock.now() - (clock() - firstSentAt) };
      return isSuccess(response)
        ? { kind: 'succeeded', ...answer, error: (failure) => errorOf(state, failure) }
        : { kind: 'failed', ...answer, error: errorOf(state, refusalOf(response)) };
    }

    function giveUp(failure: Failure): CallResult {
      return { kind: 'failed', error: errorOf(state, failure), mayBeDone: state.mayBeDone };
    }
  };
}

interface CallState {
  sent: SentRequest;
  secrets: readonly string[];
  attempts: number;
  /** Number of failures that count as `retries`. */
  counted: number;
  mayBeDone: boolean;
  firstSentAt: number | undefined;
  last: Failure | undefined;
}

function errorOf({ sent, attempts }: CallState, failure: Failure): ServiceError {
  return new ServiceError({ method: sent.method, path: sent.target.replace(/\?.*$/s, ''), attempts }, failure);
}

type Attempted = AttemptResult | undefined;

function createAttempt(options: CallOptions) {
  const { baseUrl, server = theService, send, timeoutMs, serverClock, onResponse, marks = noMarks } = options;

  /**
   * Sends the request once, and classifies the response. If a gateway may have rejected encoded slashes, sends the
   * request again with raw slashes. Undefined if the call was interrupted first.
   */
  return async function attempt(state: CallState, request: Request, signal: AbortSignal): Promise<Attempted> {
    const { target, otherTarget } = request;
    const encoded = await sendOnce(state, target, request, signal);
    if (otherTarget === undefined || !isSlashRejected(encoded)) return encoded;
    const raw = await sendOnce(state, otherTarget, request, signal);
    if (!isBetter(encoded, raw)) return raw;
    state.sent = { ...state.sent, target };
    return encoded;
  };

  async function sendOnce(state: CallState, target: string, request: Request, signal: AbortSignal): Promise<Attempted> {
    state.sent = { ...state.sent, target };
    const limitMs = timeoutMs + (request.waitMs ?? 0);
    const limit = startTimeLimit(limitMs, [signal]);
    const sanitizer = createSanitizer(state.secrets);
    try {
      const received = await unlessAborted(send(state.sent, limit.signal), limit.signal);
      serverClock.observe(received.headers);
      const response = parseResponse(received, { baseUrl, server, receivedAt: serverClock.now(), sanitizer });
      onResponse?.(response);
      marks.observe(response);
      return classifyResponse(response, request, state.mayBeDone, marks);
    } catch (error) {
      if (!limit.isOver() && signal.aborted) return undefined;
      if (limit.isOver()) {
        const failure = unanswered('timeout', server, `within ${formatElapsed(limitMs)}`);
        return { kind: 'failed', failure, mayBeDone: true, retry: 'counted' };
      }
      const failed = connectionFailure(error, sanitizer);
      if (failed === undefined) throw error;
      const { failure, mayHaveArrived } = failed;
      return { kind: 'failed', failure, mayBeDone: mayHaveArrived, retry: failure.isTransient ? 'counted' : undefined };
    } finally {
      limit.stop();
    }
  }
}

/** Whether a gateway or a router may have rejected an encoded slash. */
function isSlashRejected(attempted: Attempted): boolean {
  const response = attempted?.kind === 'answered' ? attempted.response : attempted?.unrecognized;
  return response !== undefined && [400, 404, 405, 414].includes(response.status) && !isOwnProblem(response);
}

/** Whether a 404 for encoded slashes says more than the response for raw ones, whose route may not exist. */
const isBetter = (encoded: Attempted, raw: Attempted): boolean =>
  encoded?.kind === 'answered' &&
  raw !== undefined &&
  (raw.kind !== 'answered' || (encoded.response.status === 404 && isSlashRejected(raw)));
