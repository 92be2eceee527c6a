import { type CallState, createAttempt, type FailedAttempt } from './attempt.ts';
import { maxConnections } from './connection.ts';
import { createSemaphore } from './in-parallel.ts';
import type { FoundLock } from './known-lock.ts';
import { refusalOf } from './refusal.ts';
import {
  type Call,
  type CallLimits,
  type CallOptions,
  type CallResult,
  type Request,
  type Succeeded,
  type TokenSource,
  theService,
} from './request.ts';
import { type ClientResponse, isSuccess } from './response.ts';
import { type Failure, outOfTime, ServiceError, unanswered, withRequest } from './service-error.ts';
import { backoff, startTimeLimit } from './time.ts';

/** Sends every request, and retries it until the response is final. */
export function createCall(options: CallOptions): Call {
  // A request that pauses before its next attempt does not occupy a connection.
  const enterConnection = createSemaphore(options.maxConnections ?? maxConnections);
  const attempt = createAttempt(options);
  let tokens: Promise<TokenSource> | undefined;
  const openTokens = () => {
    tokens ??= options.openTokens?.();
    return tokens;
  };
  return (request, within) => callInTime({ ...options, enterConnection, attempt, openTokens }, request, within);
}

interface CallParts extends Omit<CallOptions, 'openTokens'> {
  readonly enterConnection: ReturnType<typeof createSemaphore>;
  readonly attempt: ReturnType<typeof createAttempt>;
  readonly openTokens: () => Promise<TokenSource> | undefined;
}

async function callInTime(parts: CallParts, request: Request, within: CallLimits): Promise<CallResult> {
  const { clock, random, server, serverClock, onRetry } = parts;
  const { method, target, keySentBefore = false, waitMs, once = waitMs !== undefined } = request;
  const { deadline, signal } = within;
  const limit = startTimeLimit(deadline - clock(), [parts.closed, ...(signal ? [signal] : [])]);
  const state: CallState = { target, token: undefined, mayBeDone: keySentBefore };
  let attempts = 0;
  /** Number of failures that count as `retries`. */
  let counted = 0;
  let firstSentAt: number | undefined;
  let last: Failure | undefined;
  let isTokenReplaced = false;
  const isInterrupted = (): boolean => limit.signal.aborted || clock() >= deadline;

  try {
    for (;;) {
      if (isInterrupted()) return giveUpInterrupted();
      const source = await parts.openTokens();
      const token = await source?.get(within, limit.signal);
      if (typeof token === 'object') return giveUp(token);
      state.token = token;
      const release = await parts.enterConnection(limit.signal);
      // The time limit may have been reached while the request waited for a connection.
      if (release === undefined || isInterrupted()) {
        release?.();
        return giveUpInterrupted();
      }

      firstSentAt ??= clock();
      attempts += 1;
      const result = await parts.attempt(request, state, limit.signal).finally(release);
      if (result !== undefined && result.failure === undefined) {
        const { response } = result;
        if (token === undefined || response.status !== 401) return answered(response);
        if (!isTokenReplaced) {
          source?.invalidate(token);
          isTokenReplaced = true;
          continue;
        }
        const reason = 'The service rejected the token that it had just issued to this job. Its log has the reason.';
        const tokenRequest = errorOf(refusalOf(response)).request;
        return giveUp({ kind: 'no-token', reason, tokenRequest, isTransient: false });
      }
      const found = result?.response && (await request.confirm?.(result.response, within));
      if (result?.response && found) return answered(result.response, found);
      state.mayBeDone ||= result === undefined || result.mayBeDone;
      if (result === undefined) return giveUpInterrupted();
      last = result.failure;
      const failure = await pauseAfter(result);
      if (failure !== undefined) return giveUp(failure);
    }
  } finally {
    limit.stop();
  }

  /** Pauses before the next attempt. Returns the final failure if there is none. */
  async function pauseAfter({ failure, retry }: FailedAttempt): Promise<Failure | undefined> {
    if (retry === 'counted') counted += 1;
    const isUsedUp = once ? counted > 0 || state.mayBeDone : counted > parts.retries;
    if (retry === undefined || isUsedUp) return failure;
    const timeLeftMs = deadline - clock();
    const delayMs = delayAfter(failure, attempts - (isTokenReplaced ? 1 : 0), timeLeftMs, within, random);
    if (delayMs >= timeLeftMs) {
      const { retryAfterMs } = failure;
      const isLonger = retryAfterMs !== undefined && retryAfterMs >= timeLeftMs;
      return outOfTime(server, failure, isLonger ? retryAfterMs : undefined);
    }
    // Without the advice of the error, because the request is retried.
    const named = server === theService ? failure.reason : `${server}: ${failure.reason}`;
    onRetry?.({ delayMs, reason: withRequest(named, errorOf(failure).request) });
    await parts.sleep(delayMs, limit.signal);
    return undefined;
  }

  function giveUpInterrupted(): CallResult {
    if (limit.signal.aborted && !limit.isOver()) {
      return giveUp({ kind: 'aborted', reason: 'The request was cancelled.', isTransient: false });
    }
    return giveUp(last === undefined ? unanswered('deadline', server, 'in time') : outOfTime(server, last));
  }

  function answered(response: ClientResponse, found?: FoundLock): CallResult {
    const sentAt = serverClock.now() - (clock() - (firstSentAt ?? clock()));
    return resultOf({ response, found, mayBeDone: state.mayBeDone, sentAt }, errorOf);
  }

  function giveUp(failure: Failure): CallResult {
    return { kind: 'failed', error: errorOf(failure), mayBeDone: state.mayBeDone };
  }

  function errorOf(failure: Failure): ServiceError {
    return new ServiceError({ method, path: state.target.replace(/\?.*$/s, ''), attempts }, failure);
  }
}

function delayAfter(
  { status, retryAfterMs }: Failure,
  attempts: number,
  timeLeftMs: number,
  { maxBackoffMs, isLastChance }: CallLimits,
  random: () => number,
): number {
  // `maxBackoffMs` is for a service that comes back, not for one that refuses too many requests.
  const pauseMs = (askedMs?: number) => backoff(attempts, askedMs, random, status === 429 ? undefined : maxBackoffMs);
  const askedMs = pauseMs(retryAfterMs);
  return askedMs >= timeLeftMs && isLastChance ? pauseMs() : askedMs;
}

const resultOf = (answer: Omit<Succeeded, 'kind' | 'error'>, errorOf: Succeeded['error']): CallResult =>
  isSuccess(answer.response)
    ? { kind: 'succeeded', ...answer, error: errorOf }
    : { kind: 'failed', ...answer, error: errorOf(refusalOf(answer.response)) };
