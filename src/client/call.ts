import { unlessAborted } from '../interface/timers.ts';
import type { Clock, ServerClock } from './clock.ts';
import { connectionFailure, type SentRequest } from './connection.ts';
import { rateLimitIn } from './rate-limit.ts';
import { isRecognized, rejectsSlashes } from './recognize.ts';
import { type RefusalContext, refusalOf, retryAfterHeader } from './refusal.ts';
import type { Call, CallContext, CallLimits, CallResult, Request, Retry, Send, TokenSource } from './request.ts';
import type { ClientResponse } from './response.ts';
import { type AttemptResult, backoff, classifyResponse } from './retry.ts';
import { type Refused, type RequestFailure, ServiceError, withRequest } from './service-error.ts';
import { createServiceText, type ServiceText } from './service-text.ts';
import { createAdmission, createThrottle } from './throttle.ts';
import { type StartTimer, startTimeLimit, type TimeLimit } from './time-limit.ts';

export interface CallOptions {
  readonly baseUrl: URL;
  /** What errors call the server, if it is not the service. */
  readonly server?: string | undefined;
  readonly send: Send;
  /** For each attempt. */
  readonly timeoutMs: number;
  /** Attempts after the first. */
  readonly retries: number;
  /** Requests beyond these wait until one of them is done. */
  readonly maxConnections: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** Whether the server itself has sent a refusal, and not a gateway. By default, as the service marks its own. */
  readonly isRecognized?: ((response: ClientResponse) => boolean) | undefined;
  /** Gives each request a token; without it, they are sent with the headers alone. */
  readonly tokens?: (() => Promise<TokenSource>) | undefined;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly startTimer?: StartTimer | undefined;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly closed: AbortSignal;
  readonly onResponse: (response: ClientResponse, texts: ServiceText) => void;
  readonly onRetry: (retry: Retry) => void;
  /** Little of the rate limit remains, so the next request waits for so long. */
  readonly onThrottled: (delayMs: number) => void;
}

/** Every request goes through here: it waits for the rate limit, is sent, and sent again until an answer counts. */
export function createCall(options: CallOptions): Call {
  const { baseUrl, clock, serverClock, random, sleep, isRecognized: recognizes = isRecognized } = options;
  const throttle = createThrottle(random);
  const admit = createAdmission({ ...options, throttle });
  // All spellings of a secret take a while to make, and most requests have none of their own.
  let defaultTexts = createServiceText(options.secrets);
  let defaultToken: string | undefined;
  /** The last answer that refused a request for the rate limit. */
  let limitedBy: Refused | undefined;

  /** What an answer says of the rate limit counts before the next request gets the connection. */
  function observe(response: ClientResponse, sentAt: number, texts: ServiceText, throttled: boolean): void {
    serverClock.observe(response.headers);
    options.onResponse(response, texts);
    const status = rateLimitIn(response.headers, serverClock.now());
    if (status !== undefined) throttle.observe(status, clock());
    if (!throttled) return;
    if (response.status === 429) throttle.refused(sentAt, retryAfterHeader(response, serverClock.now()), clock());
    else throttle.served();
  }

  function textsFor(secrets: readonly string[], token: string | undefined): ServiceText {
    const all = [...options.secrets, ...secrets, ...(token === undefined ? [] : [token])];
    if (secrets.length > 0) return createServiceText(all);
    if (token !== undefined && token !== defaultToken) {
      defaultTexts = createServiceText(all);
      defaultToken = token;
    }
    return defaultTexts;
  }

  async function send(request: Request, within: CallLimits, limit: TimeLimit): Promise<CallResult> {
    const { deadline } = within;
    const { method, target, otherTarget, headers, body, secrets = [], answerDelayMs = 0 } = request;
    let sent: SentRequest = {
      method,
      target,
      headers: { ...options.headers, ...typeOf(body), ...headers },
      body: body instanceof URLSearchParams ? body.toString() : body === undefined ? null : JSON.stringify(body),
    };
    let texts = textsFor(secrets, undefined);
    const timeoutMs = options.timeoutMs + answerDelayMs;
    const once = request.attempts === 'once';
    const retries = once ? 0 : options.retries;
    // A release never waits behind requests for more.
    const throttled = request.throttled ?? method !== 'DELETE';
    let firstSentAt: number | undefined;
    let attempts = 0;
    let failures = 0;
    let countedFailures = 0;
    let mayBeDone = request.keySentBefore === true;
    let last: RequestFailure | undefined;
    let replacedToken = false;

    const fail = (failure: RequestFailure): ServiceError =>
      new ServiceError({ method, path: sent.target.replace(/\?.*$/s, ''), attempts, server: options.server }, failure);
    const refusalContext = (): RefusalContext => ({ baseUrl, texts, serverNow: serverClock.now() });
    const refuse = (response: ClientResponse): ServiceError => fail(refusalOf(response, refusalContext()));
    const context = (): CallContext => ({
      ...{ texts, sentAt: firstSentAt ?? clock(), mayBeDone, target: sent.target },
      ...{ fail, refuse },
    });
    const giveUp = (failure: RequestFailure): CallResult => ({ kind: 'given-up', error: fail(failure), ...context() });
    const giveUpInterrupted = (limited = false): CallResult =>
      giveUp(
        limit.signal.aborted && !limit.isOver()
          ? { kind: 'aborted' }
          : { kind: 'deadline', last, retryAfterMs: undefined, limited },
      );

    /** Undefined when the whole call was interrupted first. */
    async function attempt(as: string): Promise<AttemptResult | undefined> {
      sent = { ...sent, target: as };
      const sentAt = clock();
      const attemptLimit = startTimeLimit(timeoutMs, [limit.signal], options.startTimer);
      let response: ClientResponse;
      try {
        response = await unlessAborted(options.send(sent, attemptLimit.signal, texts), attemptLimit.signal);
      } catch (error) {
        if (!attemptLimit.isOver() && limit.signal.aborted) return undefined;
        const failure = attemptLimit.isOver()
          ? ({ kind: 'timeout', limitMs: timeoutMs } as const)
          : connectionFailure(error, texts);
        if (failure === undefined) throw error;
        const arrived = failure.kind === 'timeout' || failure.mayHaveArrived;
        const retry = failure.kind === 'connection' && failure.untrusted ? undefined : 'failed';
        return { kind: 'failed', failure, mayBeDone: arrived, retry, retryAfterMs: undefined };
      } finally {
        attemptLimit.stop();
        if (throttled) throttle.ended();
      }
      observe(response, sentAt, texts, throttled);
      if (as === target && otherTarget !== undefined && rejectsSlashes(response)) return attempt(otherTarget);
      const { expect } = request;
      return classifyResponse(response, {
        ...refusalContext(),
        keyMayHaveArrived: mayBeDone,
        expect,
        isRecognized: recognizes,
      });
    }

    const unsendable = unsendableHeader(sent.headers);
    if (unsendable !== undefined) {
      return giveUp({ kind: 'unsendable', reason: `the header ${unsendable} has characters that no header can have` });
    }

    for (;;) {
      if (limit.signal.aborted || clock() >= deadline) return giveUpInterrupted();

      const tokens = await options.tokens?.();
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

      // Time may have run out while it waited for the connection.
      if (limit.signal.aborted || clock() >= deadline) {
        if (throttled) throttle.ended();
        admission.release();
        return giveUpInterrupted();
      }

      firstSentAt ??= clock();
      attempts += 1;
      const ended = await attempt(target).finally(admission.release);
      if (ended?.kind === 'answered') {
        if (ended.response.status !== 401 || given === undefined) return { ...ended, ...context() };
        // It was revoked, or has ended by the clock of the service; nothing was done.
        if (!replacedToken && tokens?.refused(given.token) === true) {
          replacedToken = true;
          continue;
        }
        const reason = 'The service rejected the token that it had just issued to this job. Its log has the reason.';
        return giveUp({ kind: 'no-token', reason, request: refuse(ended.response).request, transient: false });
      }
      // Not before the connection is free for the request that confirms.
      const { unrecognized } = ended ?? {};
      if (unrecognized !== undefined && (await request.confirm?.(unrecognized, within)) === true) {
        return { kind: 'answered', response: unrecognized, ...context() };
      }
      mayBeDone ||= ended?.mayBeDone ?? true;
      if (ended === undefined) return giveUpInterrupted();

      const { failure, retry, retryAfterMs } = ended;
      last = failure;
      failures += 1;
      if (retry === 'failed') countedFailures += 1;
      if (retry === undefined || countedFailures > retries || (once && mayBeDone)) return giveUp(failure);

      // All that are refused for the rate limit wait for it together, where they are admitted.
      const waitsTogether = throttled && retry === 'limited';
      if (waitsTogether && failure.kind === 'refused') limitedBy = failure;
      const delayMs = waitsTogether
        ? throttle.refusedUntil() - clock()
        : backoff(failures, retryAfterMs, random, within.maxBackoffMs);
      const timeLeft = deadline - clock();
      if (delayMs >= timeLeft) {
        const asked = retryAfterMs !== undefined && retryAfterMs >= timeLeft ? retryAfterMs : undefined;
        return giveUp({ kind: 'deadline', last, retryAfterMs: asked });
      }
      // Without the advice of the error: the retry needs no one.
      const { reason, request: sentRequest } = fail(failure);
      options.onRetry({ delayMs, kind: retry, reason: withRequest(reason, sentRequest) });
      if (!waitsTogether) await sleep(delayMs, limit.signal);
    }
  }

  return async (request, within) => {
    const outer = [options.closed, ...(within.signal ? [within.signal] : [])];
    const limit = startTimeLimit(within.deadline - clock(), outer, options.startTimer);
    try {
      return await send(request, within, limit);
    } finally {
      limit.stop();
    }
  };
}

const typeOf = (body: Request['body']) =>
  body && { 'content-type': `application/${body instanceof URLSearchParams ? 'x-www-form-urlencoded' : 'json'}` };

const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** RFC 9110 section 5.5. */
const unsendableHeader = (headers: Readonly<Record<string, string>>): string | undefined =>
  Object.keys(headers).find((name) => !fieldValue.test(headers[name] ?? ''));
