import { unlessAborted } from '../interface/timers.ts';
import type { Clock, ServerClock } from './clock.ts';
import { type Connection, connectionFailure, type SentRequest } from './connection.ts';
import { rateLimitIn } from './rate-limit.ts';
import { isRecognized, rejectsSlashes } from './recognize.ts';
import { refusalOf, retryAfterHeader } from './refusal.ts';
import type { Call, CallContext, CallLimits, CallResult, Request, Retry, TokenSource } from './request.ts';
import { type ClientResponse, parseResponse } from './response.ts';
import {
  type AttemptResult,
  classifyResponse,
  type FailedAttempt,
  nextStep,
  type Progress,
  progressAfter,
} from './retry.ts';
import { createSanitizerCache } from './sanitizer.ts';
import { type Refused, type RequestFailure, ServiceError, withRequest } from './service-error.ts';
import { type Admission, createAdmission, createThrottle } from './throttle.ts';
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
  /** Returns early, without an error, when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly startTimer?: StartTimer | undefined;
  /** At least 0 and less than 1. */
  readonly random: () => number;
  readonly closed: AbortSignal;
  readonly onResponse?: ((response: ClientResponse) => void) | undefined;
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  /** Called when the next request must wait because little of the rate limit remains. */
  readonly onThrottled?: ((delayMs: number) => void) | undefined;
}

/**
 * Every request goes through here: it waits for the rate limit, and is sent and retried until there is a final
 * response.
 */
export function createCall(options: CallOptions): Call {
  const { baseUrl, server, clock, serverClock, random } = options;
  const throttle = createThrottle(random);
  const admit = createAdmission({ ...options, throttle });
  const sanitizerFor = createSanitizerCache(options.secrets);
  let opened: Promise<TokenSource> | undefined;
  /** The last response that refused a request because of the rate limit. */
  let limitedBy: Refused | undefined;

  return async function call(request: Request, within: CallLimits): Promise<CallResult> {
    const { deadline, signal } = within;
    const limit = startTimeLimit(deadline - clock(), [options.closed, ...(signal ? [signal] : [])], options.startTimer);
    const { method, secrets = [], otherTarget } = request;
    const once = request.attempts === 'once';
    // A release never waits for requests that acquire more.
    const throttled = request.throttled ?? method !== 'DELETE';
    let sent = sentRequest(request, options.headers);
    let token: string | undefined;
    let sanitizer = sanitizerFor(secrets, token);
    let firstSentAt: number | undefined;
    let progress: Progress = { attempts: 0, failures: 0, counted: 0, mayBeDone: request.keySentBefore === true };
    let last: RequestFailure | undefined;
    let replacedToken = false;

    try {
      const unsendable = unsendableHeader(sent.headers);
      if (unsendable !== undefined) {
        return giveUp({ kind: 'unsendable', reason: `the header ${unsendable} contains invalid characters` });
      }
      for (;;) {
        if (isInterrupted()) return giveUpInterrupted();
        const unauthorized = await authorize();
        if (unauthorized !== undefined) return unauthorized;
        const connection = await admitted();
        if (connection.kind !== 'admitted') return connection;

        firstSentAt ??= clock();
        progress = { ...progress, attempts: progress.attempts + 1 };
        const result = await attempt(request.target).finally(connection.release);
        if (result?.kind === 'answered') {
          if (token === undefined || result.response.status !== 401) return { ...result, ...context() };
          if (await reportRejected(token)) continue;
          const reason = 'The service rejected the token that it had just issued to this job. Its log has the reason.';
          return giveUp({ kind: 'no-token', reason, request: refuse(result.response).request, transient: false });
        }
        // Only now is the connection free for the request that confirms.
        const { unrecognized } = result ?? {};
        const found = unrecognized && (await request.confirm?.(unrecognized, within));
        if (found) return { kind: 'answered', response: unrecognized, found, ...context() };
        progress = progressAfter(progress, result);
        if (result === undefined) return giveUpInterrupted();
        const ended = await pauseAfter(result);
        if (ended !== undefined) return ended;
      }
    } finally {
      limit.stop();
    }

    /** Adds a current token to the request. Returns the reason if there is none. */
    async function authorize(): Promise<CallResult | undefined> {
      opened ??= options.openTokens?.();
      const issued = await (await opened)?.get(within, limit.signal);
      if (issued?.kind === 'failed') return giveUp(issued.failure);
      if (issued?.kind === 'interrupted') return giveUpInterrupted();
      if (issued === undefined) return undefined;
      token = issued.token;
      sent = { ...sent, headers: { ...sent.headers, authorization: `Bearer ${token}` } };
      sanitizer = sanitizerFor(secrets, token);
      return undefined;
    }

    /**
     * After a 401: the token was revoked, or has expired by the clock of the service. The request had no effect. Returns
     * whether another token may be accepted.
     */
    async function reportRejected(rejected: string): Promise<boolean> {
      if (replacedToken || (await opened)?.refused(rejected) !== true) return false;
      replacedToken = true;
      return true;
    }

    /** Waits for the rate limit and for a connection, which must then be released. */
    async function admitted(): Promise<Extract<Admission, { kind: 'admitted' }> | CallResult> {
      const admission = await admit({ throttled, deadline, signal: limit.signal });
      if (admission.kind === 'too-late') {
        const retryAfterMs = limitedBy?.retryAfterMs === undefined ? undefined : admission.delayMs;
        return giveUp({ kind: 'deadline', last: limitedBy, retryAfterMs });
      }
      if (admission.kind === 'aborted') {
        if (admission.limited) last ??= limitedBy;
        return giveUpInterrupted(admission.limited);
      }
      // Time may have run out while waiting for the connection.
      if (!isInterrupted()) return admission;
      if (throttled) throttle.ended();
      admission.release();
      return giveUpInterrupted();
    }

    /**
     * Sends the request once, and classifies the response. If a gateway rejects encoded slashes, it sends the request
     * again with raw ones. Undefined if the complete call was interrupted first.
     */
    async function attempt(target: string): Promise<AttemptResult | undefined> {
      const isFirst = target === request.target;
      sent = { ...sent, target };
      const timeoutMs = options.timeoutMs + (request.responseDelayMs ?? 0);
      const attemptLimit = startTimeLimit(timeoutMs, [limit.signal], options.startTimer);
      const sentAt = clock();
      let response: ClientResponse;
      try {
        const received = options.send(sent, attemptLimit.signal);
        response = parseResponse(await unlessAborted(received, attemptLimit.signal), sanitizer);
      } catch (error) {
        if (!attemptLimit.isOver() && limit.signal.aborted) return undefined;
        const failure = attemptLimit.isOver()
          ? ({ kind: 'timeout', limitMs: timeoutMs } as const)
          : connectionFailure(error, sanitizer);
        if (failure === undefined) throw error;
        const mayBeDone = failure.kind === 'timeout' || failure.mayHaveArrived;
        const retry = failure.kind === 'connection' && failure.untrusted ? undefined : 'failed';
        return { kind: 'failed', failure, mayBeDone, retry, retryAfterMs: undefined };
      } finally {
        attemptLimit.stop();
        if (throttled && isFirst) throttle.ended();
      }
      observe(response, sentAt);
      if (isFirst && otherTarget !== undefined && rejectsSlashes(response)) return attempt(otherTarget);
      return classifyResponse(response, {
        ...{ baseUrl, serverNow: serverClock.now(), expect: request.expect },
        keyMayHaveArrived: progress.mayBeDone,
        // Other servers have no marks of the service: all their responses count as their own.
        isRecognized: server === undefined ? isRecognized : () => true,
      });
    }

    /** Updates the clock and the rate limit from a response before the next request gets the connection. */
    function observe(response: ClientResponse, sentAt: number): void {
      serverClock.observe(response.headers);
      options.onResponse?.(response);
      const status = rateLimitIn(response.headers, serverClock.now());
      if (status !== undefined) throttle.observe(status, clock());
      if (!throttled) return;
      if (response.status === 429) throttle.refused(sentAt, retryAfterHeader(response, serverClock.now()), clock());
      else throttle.served();
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

    function giveUpInterrupted(limited = false): CallResult {
      const isCancelled = limit.signal.aborted && !limit.isOver();
      return giveUp(isCancelled ? { kind: 'aborted' } : { kind: 'deadline', last, retryAfterMs: undefined, limited });
    }

    function giveUp(failure: RequestFailure): CallResult {
      return { kind: 'given-up', error: fail(failure), ...context() };
    }

    function context(): CallContext {
      const { mayBeDone } = progress;
      const sentAt = serverClock.now() - (clock() - (firstSentAt ?? clock()));
      return { sentAt, mayBeDone, target: sent.target, fail, refuse };
    }

    function refuse(response: ClientResponse): ServiceError {
      return fail(refusalOf(response, { baseUrl, serverNow: serverClock.now() }));
    }

    function fail(failure: RequestFailure): ServiceError {
      const path = sent.target.replace(/\?.*$/s, '');
      return new ServiceError({ method, path, attempts: progress.attempts, server }, failure);
    }
  };
}

function sentRequest({ method, target, headers, body }: Request, ofAll: Readonly<Record<string, string>>): SentRequest {
  const type = body && {
    'content-type': `application/${body instanceof URLSearchParams ? 'x-www-form-urlencoded' : 'json'}`,
  };
  const text = body instanceof URLSearchParams ? body.toString() : body === undefined ? null : JSON.stringify(body);
  return { method, target, headers: { 'accept-encoding': 'identity', ...ofAll, ...type, ...headers }, body: text };
}

const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** RFC 9110 section 5.5. */
const unsendableHeader = (headers: Readonly<Record<string, string>>): string | undefined =>
  Object.keys(headers).find((name) => !fieldValue.test(headers[name] ?? ''));
