import { type AttemptOptions, createAttempt } from './attempt.ts';
import type { SentRequest } from './connection.ts';
import { createMarks, type MarksStore } from './recognize.ts';
import { refusalOf } from './refusal.ts';
import type {
  AnsweredCall,
  Call,
  CallLimits,
  CallResult,
  Request,
  Retry,
  TokenResult,
  TokenSource,
} from './request.ts';
import type { ClientResponse } from './response.ts';
import { type FailedAttempt, nextStep, type Progress, progressAfter } from './retry.ts';
import { createSanitizerCache } from './sanitizer.ts';
import { type Refused, type RequestFailure, ServiceError, withRequest } from './service-error.ts';
import { type Admission, createAdmission, createThrottle } from './throttle.ts';
import { startTimeLimit } from './time-limit.ts';

export interface CallOptions extends AttemptOptions {
  /** Attempts after the first. */
  readonly retries: number;
  /** Further requests wait until one of these is done. */
  readonly maxConnections: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** Opens, with the first request, the source of a token for each. Without it, requests have only the headers. */
  readonly openTokens?: (() => Promise<TokenSource>) | undefined;
  /** Returns early, without an error, when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** At least 0 and less than 1. */
  readonly random: () => number;
  readonly closed: AbortSignal;
  /** Without it, each call starts without knowing the service. */
  readonly marks?: MarksStore | undefined;
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
  const attempt = createAttempt(options, throttle, createMarks(options.marks));
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

function sentRequest({ method, target, headers, body }: Request, ofAll: Readonly<Record<string, string>>): SentRequest {
  const type = body && {
    'content-type': `application/${body instanceof URLSearchParams ? 'x-www-form-urlencoded' : 'json'}`,
  };
  const text = body instanceof URLSearchParams ? body.toString() : body === undefined ? null : JSON.stringify(body);
  return { method, target, headers: { 'accept-encoding': 'identity', ...ofAll, ...type, ...headers }, body: text };
}

interface CallState extends Pick<Request, 'method'> {
  /** As it was last sent. */
  readonly target: string;
  readonly firstSentAt: number | undefined;
  readonly progress: Progress;
}

/** The results and errors of a call, each for its state at that time. */
function createCallResults({ baseUrl, server, clock, serverClock }: CallOptions, state: () => CallState) {
  function answered(response: ClientResponse): AnsweredCall {
    const { target, firstSentAt, progress } = state();
    const now = clock();
    return {
      kind: 'answered',
      response,
      mayBeDone: progress.mayBeDone,
      sentAt: serverClock.now() - (now - (firstSentAt ?? now)),
      target,
      fail,
      refusal: () => refusal(response),
    };
  }

  const giveUp = (failure: RequestFailure): CallResult => ({
    kind: 'given-up',
    error: fail(failure),
    mayBeDone: state().progress.mayBeDone,
  });

  const refusal = (response: ClientResponse): ServiceError =>
    fail(refusalOf(response, { baseUrl, serverNow: serverClock.now() }));

  function fail(failure: RequestFailure): ServiceError {
    const { method, target, progress } = state();
    const path = target.replace(/\?.*$/s, '');
    return new ServiceError({ method, path, attempts: progress.attempts, server }, failure);
  }

  return { answered, giveUp, refusal, fail };
}

const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** RFC 9110 section 5.5. */
const unsendableHeader = (headers: Readonly<Record<string, string>>): string | undefined =>
  Object.keys(headers).find((name) => !fieldValue.test(headers[name] ?? ''));

/** The token of a call. It is replaced once if the service rejects it. */
function createAuthorization(openTokens: () => Promise<TokenSource> | undefined) {
  let current: string | undefined;
  let isReplaced = false;
  return {
    /** Undefined if requests need no token. */
    async token(within: CallLimits, signal: AbortSignal): Promise<TokenResult | undefined> {
      const issued = await (await openTokens())?.get(within, signal);
      if (issued?.kind === 'token') current = issued.token;
      return issued;
    },
    /**
     * After a 401: the token was revoked, or has expired by the clock of the service. The request had no effect. Returns
     * whether another token may be accepted.
     */
    async replaceToken(): Promise<boolean> {
      if (isReplaced || current === undefined) return false;
      isReplaced = (await openTokens())?.invalidate(current) === true;
      return isReplaced;
    },
  };
}
