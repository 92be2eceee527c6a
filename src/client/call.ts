import { unlessAborted } from '../interface/timers.ts';
import type { Clock, ServerClock } from './clock.ts';
import { type Connection, connectionFailure, type SentRequest } from './connection.ts';
import { createMarks, type MarksStore, rejectsSlashes } from './recognize.ts';
import { retryAfterHeader } from './refusal.ts';
import {
  type Call,
  type CallLimits,
  type CallResult,
  type CallState,
  createAuthorization,
  createCallResults,
  type Progress,
  type Request,
  type Retry,
  sentRequest,
  type TokenSource,
  unsendableHeader,
} from './request.ts';
import { type ClientResponse, isSuccess, parseResponse } from './response.ts';
import { type AttemptResult, classifyResponse, type FailedAttempt, nextStep, progressAfter } from './retry.ts';
import { createSanitizerCache, type Sanitizer } from './sanitizer.ts';
import { type Refused, type RequestFailure, withRequest } from './service-error.ts';
import { type Admission, createAdmission, createThrottle, type Throttle } from './throttle.ts';
import { type StartTimer, startTimeLimit } from './time-limit.ts';

export interface CallOptions {
  readonly baseUrl: URL;
  /** The name of the server in errors and retries, if it is not the service. All its refusals are its own. */
  readonly server?: string | undefined;
  readonly send: Connection['send'];
  /** The timeout of each attempt. */
  readonly timeoutMs: number;
  /** Attempts after the first. */
  readonly retries: number;
  /** Further requests wait until one of these is done. */
  readonly maxConnections: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** Opens, with the first request, the source of a token for each. Without it, requests have only the headers. */
  readonly openTokens?: (() => Promise<TokenSource>) | undefined;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  readonly startTimer?: StartTimer | undefined;
  /** Returns early, without an error, when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** At least 0 and less than 1. */
  readonly random: () => number;
  readonly closed: AbortSignal;
  /** Without it, each call starts without knowing the service. */
  readonly marks?: MarksStore | undefined;
  readonly onResponse?: ((response: ClientResponse) => void) | undefined;
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/**
 * Every request goes through here: it waits while the rate limit is reached, and is sent and retried until there is a final
 * response.
 */
export function createCall(options: CallOptions): Call {
  const { server, clock, random } = options;
  const throttle = createThrottle(random);
  const admit = createAdmission({ ...options, throttle });
  const attempt = createAttempt(options, throttle);
  const sanitizerFor = createSanitizerCache(options.secrets);
  let tokens: Promise<TokenSource> | undefined;
  /** The last response that refused a request because of the rate limit. */
  let limitedBy: Refused | undefined;

  return async function call(request: Request, within: CallLimits): Promise<CallResult> {
    const { deadline, signal } = within;
    const limit = startTimeLimit(deadline - clock(), [options.closed, ...(signal ? [signal] : [])], options.startTimer);
    const { method, secrets = [] } = request;
    const once = request.attempts === 'once';
    // A release never waits for requests that acquire more.
    const throttled = request.throttled ?? method !== 'DELETE';
    const authorization = createAuthorization(openTokens);
    let sent = sentRequest(request, options.headers);
    let sanitizer = sanitizerFor(secrets, undefined);
    let firstSentAt: number | undefined;
    let progress: Progress = { attempts: 0, failures: 0, counted: 0, mayBeDone: request.keySentBefore === true };
    let last: RequestFailure | undefined;
    const state = (): CallState => ({ method, target: sent.target, firstSentAt, progress });
    const { answered, giveUp, refusal, fail } = createCallResults(options, state);

    try {
      const unsendable = unsendableHeader(sent.headers);
      if (unsendable !== undefined) {
        return giveUp({ kind: 'unsendable', reason: `the header ${unsendable} contains invalid characters` });
      }
      for (;;) {
        if (isInterrupted()) return giveUpInterrupted();
        const issued = await authorization.token(within, limit.signal);
        if (issued?.kind === 'failed') return giveUp(issued.failure);
        if (issued?.kind === 'interrupted') return giveUpInterrupted();
        if (issued !== undefined) useToken(issued.token);
        const connection = await admitted();
        if (connection.kind !== 'admitted') return connection;

        firstSentAt ??= clock();
        progress = { ...progress, attempts: progress.attempts + 1 };
        const context = { request, throttled, sanitizer, keyMayHaveArrived: progress.mayBeDone, signal: limit.signal };
        const attempted = await attempt({ ...sent, target: request.target }, context).finally(connection.release);
        sent = attempted.sent;
        const { result } = attempted;
        if (result?.kind === 'answered') {
          const { response } = result;
          if (issued === undefined || response.status !== 401) return answered(response);
          if (await authorization.replaceToken()) continue;
          const reason = 'The service rejected the token that it had just issued to this job. Its log has the reason.';
          return giveUp({ kind: 'no-token', reason, request: refusal(response).request, transient: false });
        }
        // Only now is the connection free for the request that confirms.
        const { unrecognized } = result ?? {};
        const found = unrecognized && (await request.confirm?.(unrecognized, within));
        if (found) return { ...answered(unrecognized), found };
        progress = progressAfter(progress, result);
        if (result === undefined) return giveUpInterrupted();
        const ended = await pauseAfter(result);
        if (ended !== undefined) return ended;
      }
    } finally {
      limit.stop();
    }

    function useToken(token: string): void {
      sent = { ...sent, headers: { ...sent.headers, authorization: `Bearer ${token}` } };
      sanitizer = sanitizerFor(secrets, token);
    }

    /** Waits for the rate limit and for a connection, which must then be released. */
    async function admitted(): Promise<Extract<Admission, { kind: 'admitted' }> | CallResult> {
      const admission = await admit({ throttled, deadline, signal: limit.signal });
      if (admission.kind === 'too-late') {
        const retryAfterMs = limitedBy?.retryAfterMs === undefined ? undefined : admission.delayMs;
        return giveUp({ kind: 'deadline', last: limitedBy, retryAfterMs });
      }
      if (admission.kind === 'aborted') {
        return giveUpInterrupted();
      }
      // Time may have run out while waiting for the connection.
      if (!isInterrupted()) return admission;
      admission.release();
      return giveUpInterrupted();
    }

    /** Waits before the next attempt. Returns the result of the call if another one would not help. */
    async function pauseAfter(failed: FailedAttempt): Promise<CallResult | undefined> {
      const { failure, retry } = failed;
      last = failure;
      // Requests that were refused because of the rate limit wait for it together, at admission.
      const waitsTogether = throttled && retry === 'limited';
      if (waitsTogether && failure.kind === 'refused') limitedBy = failure;
      const next = nextStep(failed, progress, {
        retries: once ? 0 : options.retries,
        once,
        timeLeftMs: deadline - clock(),
        limitedForMs: waitsTogether ? throttle.refusedUntil() - clock() : undefined,
        maxBackoffMs: within.maxBackoffMs,
        isLastChance: within.isLastChance,
        random,
      });
      if (next.kind === 'give-up') return giveUp(next.failure);
      // Without the advice of the error: a retry needs none.
      const { reason, request: sentBefore } = fail(failure);
      const named = server === undefined ? reason : `${server}: ${reason}`;
      options.onRetry?.({ ...next.retry, reason: withRequest(named, sentBefore) });
      if (!waitsTogether) await options.sleep(next.retry.delayMs, limit.signal);
      return undefined;
    }

    function isInterrupted(): boolean {
      return limit.signal.aborted || clock() >= deadline;
    }

    function giveUpInterrupted(): CallResult {
      const isCancelled = limit.signal.aborted && !limit.isOver();
      return giveUp(isCancelled ? { kind: 'aborted' } : { kind: 'deadline', last, retryAfterMs: undefined });
    }
  };

  function openTokens(): Promise<TokenSource> | undefined {
    tokens ??= options.openTokens?.();
    return tokens;
  }
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

function createAttempt(options: CallOptions, throttle: Throttle) {
  const marks = createMarks(options.marks);
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
