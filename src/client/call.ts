import { attemptOnce } from './attempt.ts';
import type { Clock, ServerClock } from './clock.ts';
import type { Connection, SentRequest } from './connection.ts';
import { rateLimitIn } from './rate-limit.ts';
import { refusalOf, retryAfterHeader } from './refusal.ts';
import type { Call, CallContext, CallLimits, CallResult, Request, Retry, TokenSource } from './request.ts';
import type { ClientResponse } from './response.ts';
import { nextStep, type Progress, progressAfter } from './retry.ts';
import { type Refused, type RequestFailure, ServiceError, withRequest } from './service-error.ts';
import { createServiceText, type ServiceText } from './service-text.ts';
import { createAdmission, createThrottle } from './throttle.ts';
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
  readonly onResponse?: ((response: ClientResponse, texts: ServiceText) => void) | undefined;
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  /** Called when the next request must wait because little of the rate limit remains. */
  readonly onThrottled?: ((delayMs: number) => void) | undefined;
}

/**
 * Every request goes through here: it waits for the rate limit, and is sent and retried until there is a final
 * response.
 */
export function createCall(options: CallOptions): Call {
  const { clock, serverClock, random, sleep } = options;
  const throttle = createThrottle(random);
  const admit = createAdmission({ ...options, throttle });
  const textsFor = createTexts(options.secrets);
  let opened: Promise<TokenSource> | undefined;
  /** The last response that refused a request because of the rate limit. */
  let limitedBy: Refused | undefined;

  /** Updates the rate limit from a response before the next request gets the connection. */
  function observe(response: ClientResponse, sentAt: number, texts: ServiceText, throttled: boolean): void {
    serverClock.observe(response.headers);
    options.onResponse?.(response, texts);
    const status = rateLimitIn(response.headers, serverClock.now());
    if (status !== undefined) throttle.observe(status, clock());
    if (!throttled) return;
    if (response.status === 429) throttle.refused(sentAt, retryAfterHeader(response, serverClock.now()), clock());
    else throttle.served();
  }

  return async function call(request: Request, within: CallLimits): Promise<CallResult> {
    const { deadline, signal } = within;
    const limit = startTimeLimit(deadline - clock(), [options.closed, ...(signal ? [signal] : [])], options.startTimer);
    const { method, secrets = [] } = request;
    const once = request.attempts === 'once';
    // A release never waits for requests that acquire more.
    const throttled = request.throttled ?? method !== 'DELETE';
    let sent = sentRequest(request, options.headers);
    let texts = textsFor(secrets, undefined);
    let firstSentAt: number | undefined;
    let progress: Progress = { attempts: 0, failures: 0, counted: 0, mayBeDone: request.keySentBefore === true };
    let last: RequestFailure | undefined;
    let replacedToken = false;

    const fail = (failure: RequestFailure): ServiceError => {
      const path = sent.target.replace(/\?.*$/s, '');
      return new ServiceError({ method, path, attempts: progress.attempts, server: options.server }, failure);
    };
    const refuse = (response: ClientResponse): ServiceError =>
      fail(refusalOf(response, { baseUrl: options.baseUrl, texts, serverNow: serverClock.now() }));
    const context = (): CallContext => {
      const { mayBeDone } = progress;
      const sentAt = serverClock.now() - (clock() - (firstSentAt ?? clock()));
      return { texts, sentAt, mayBeDone, target: sent.target, fail, refuse };
    };
    const giveUp = (failure: RequestFailure): CallResult => ({ kind: 'given-up', error: fail(failure), ...context() });
    const isInterrupted = (): boolean => limit.signal.aborted || clock() >= deadline;
    const giveUpInterrupted = (limited = false): CallResult =>
      giveUp(
        limit.signal.aborted && !limit.isOver()
          ? { kind: 'aborted' }
          : { kind: 'deadline', last, retryAfterMs: undefined, limited },
      );

    const unsendable = unsendableHeader(sent.headers);
    if (unsendable !== undefined) {
      return giveUp({ kind: 'unsendable', reason: `the header ${unsendable} contains invalid characters` });
    }

    try {
      for (;;) {
        if (isInterrupted()) return giveUpInterrupted();

        opened ??= options.openTokens?.();
        const tokens = await opened;
        const given = await tokens?.get(within, limit.signal);
        if (given?.kind === 'failed') return giveUp(given.failure);
        if (given?.kind === 'interrupted') return giveUpInterrupted();
        if (given !== undefined) {
          sent = { ...sent, headers: { ...sent.headers, authorization: `Bearer ${given.token}` } };
          texts = textsFor(secrets, given.token);
        }

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
        if (isInterrupted()) {
          if (throttled) throttle.ended();
          admission.release();
          return giveUpInterrupted();
        }

        firstSentAt ??= clock();
        progress = { ...progress, attempts: progress.attempts + 1 };
        const sentAt = clock();
        const attempted = await attemptOnce(
          request,
          // Starts with the original form of the target, whatever was sent before.
          { ...sent, target: request.target },
          {
            ...options,
            limit,
            texts,
            serverNow: serverClock.now,
            keyMayHaveArrived: progress.mayBeDone,
            onEnd: () => throttled && throttle.ended(),
            onResponse: (response) => observe(response, sentAt, texts, throttled),
          },
        ).finally(admission.release);
        const { result } = attempted;
        sent = attempted.sent;
        if (result?.kind === 'answered') {
          if (result.response.status !== 401 || given === undefined) return { ...result, ...context() };
          // The token was revoked, or has expired by the clock of the service. The request had no effect.
          if (!replacedToken && tokens?.refused(given.token) === true) {
            replacedToken = true;
            continue;
          }
          const reason = 'The service rejected the token that it had just issued to this job. Its log has the reason.';
          return giveUp({ kind: 'no-token', reason, request: refuse(result.response).request, transient: false });
        }
        // Only now is the connection free for the request that confirms.
        const { unrecognized } = result ?? {};
        const found = unrecognized && (await request.confirm?.(unrecognized, within));
        if (found) return { kind: 'answered', response: unrecognized, found, ...context() };
        progress = progressAfter(progress, result);
        if (result === undefined) return giveUpInterrupted();

        const { failure, retry } = result;
        last = failure;
        // Requests that were refused because of the rate limit wait for it together, at admission.
        const waitsTogether = throttled && retry === 'limited';
        if (waitsTogether && failure.kind === 'refused') limitedBy = failure;
        const next = nextStep(result, progress, {
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
        const named = options.server === undefined ? reason : `${options.server}: ${reason}`;
        options.onRetry?.({ ...next.retry, reason: withRequest(named, sentBefore) });
        if (!waitsTogether) await sleep(next.retry.delayMs, limit.signal);
      }
    } finally {
      limit.stop();
    }
  };
}

/** Caches the texts for the token of most requests: computing all spellings of a secret takes a while. */
function createTexts(secretsOfAll: readonly string[]) {
  let known = createServiceText(secretsOfAll);
  let knownToken: string | undefined;
  return (secrets: readonly string[], token: string | undefined): ServiceText => {
    const all = [...secretsOfAll, ...secrets, ...(token === undefined ? [] : [token])];
    if (secrets.length > 0) return createServiceText(all);
    if (token !== undefined && token !== knownToken) {
      known = createServiceText(all);
      knownToken = token;
    }
    return known;
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
