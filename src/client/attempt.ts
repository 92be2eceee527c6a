import { formatElapsed } from '../interface/format.ts';
import { unlessAborted } from '../interface/timers.ts';
import { connectionFailure } from './connection.ts';
import { type Marks, noMarks } from './marks.ts';
import { isOwnProblem, isStillRunning, refusalOf } from './refusal.ts';
import type { CallOptions, Request } from './request.ts';
import { type ClientResponse, isSuccess, parseResponse } from './response.ts';
import { createSanitizer } from './sanitizer.ts';
import { type Failure, isTransientStatus, unanswered } from './service-error.ts';
import { startTimeLimit } from './time.ts';

/** The state of a call that concerns its next attempt. */
export interface CallState {
  /** The target of the last attempt. */
  target: string;
  token: string | undefined;
  /** An earlier attempt, or an earlier call with the same key, may have taken effect. */
  mayBeDone: boolean;
}

type Attempt =
  /** The response is final: another attempt would not change it. */
  { readonly failure?: undefined; readonly response: ClientResponse } | FailedAttempt;

export interface FailedAttempt {
  readonly failure: Failure;
  readonly mayBeDone: boolean;
  /**
   * Whether another attempt counts as one of the `retries`. A service that is not ready yet is retried until the
   * deadline (`free`). Undefined if another attempt would not help.
   */
  readonly retry: 'counted' | 'free' | undefined;
  /** A response that may be from a gateway. It counts only if a lookup confirms it. */
  readonly response?: ClientResponse | undefined;
}

export function createAttempt(options: CallOptions) {
  const { baseUrl, server, send, timeoutMs, serverClock, onResponse, marks = noMarks } = options;

  /**
   * Sends the request once, and classifies the response. If a gateway may have rejected encoded slashes, sends the
   * request again with raw slashes. Undefined if the call was interrupted first.
   */
  return async function attempt(request: Request, state: CallState, signal: AbortSignal): Promise<Attempt | undefined> {
    const { target, otherTarget } = request;
    state.target = target;
    const encoded = await sendOnce(request, state, signal);
    if (otherTarget === undefined || !isSlashRejected(encoded)) return encoded;
    state.target = otherTarget;
    const raw = await sendOnce(request, state, signal);
    if (!isBetter(encoded, raw)) return raw;
    state.target = target;
    return encoded;
  };

  async function sendOnce(
    request: Request,
    { target, token, mayBeDone }: CallState,
    signal: AbortSignal,
  ): Promise<Attempt | undefined> {
    const { method, body, once = false, waitMs = 0, secrets = [] } = request;
    const isForm = body instanceof URLSearchParams;
    const headers = {
      'accept-encoding': 'identity',
      ...options.headers,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': `application/${isForm ? 'x-www-form-urlencoded' : 'json'}` }),
      ...request.headers,
    };
    const text = isForm ? body.toString() : JSON.stringify(body);
    const limitMs = timeoutMs + waitMs;
    const limit = startTimeLimit(limitMs, [signal]);
    const sanitizer = createSanitizer([...options.secrets, ...secrets, ...(token === undefined ? [] : [token])]);
    try {
      const sent = send({ method, target, headers, body: text, isAlone: once }, limit.signal);
      const received = await unlessAborted(sent, limit.signal);
      serverClock.observe(received.headers);
      const response = parseResponse(received, { baseUrl, server, receivedAt: serverClock.now(), sanitizer });
      onResponse?.(response);
      marks.observe(response);
      return classifyResponse(response, request, mayBeDone, marks);
    } catch (error) {
      if (limit.isOver()) {
        const failure = unanswered('timeout', server, `within ${formatElapsed(limitMs)}`);
        return { failure, mayBeDone: true, retry: 'counted' };
      }
      if (signal.aborted) return undefined;
      const failed = connectionFailure(error, sanitizer);
      if (failed === undefined) throw error;
      const { failure, mayHaveArrived } = failed;
      return { failure, mayBeDone: mayHaveArrived, retry: failure.isTransient ? 'counted' : undefined };
    } finally {
      limit.stop();
    }
  }
}

/** Whether a gateway or a router may have rejected an encoded slash. */
const isSlashRejected = ({ response }: Partial<Attempt> = {}): boolean =>
  response !== undefined && [400, 404, 405, 414].includes(response.status) && !isOwnProblem(response);

/** Whether a 404 for encoded slashes says more than the response for raw ones, whose route may not exist. */
const isBetter = (encoded: Attempt | undefined, raw: Attempt | undefined): boolean =>
  encoded !== undefined &&
  encoded.failure === undefined &&
  raw !== undefined &&
  (raw.failure !== undefined || (encoded.response.status === 404 && isSlashRejected(raw)));

/** Whether a response is final, or to be retried: the same rules for all operations. */
export function classifyResponse(
  response: ClientResponse,
  request: Pick<Request, 'expect' | 'anySuccess' | 'finalAt'>,
  keyMayHaveArrived: boolean,
  marks: Pick<Marks, 'areShown' | 'isFromService'>,
): Attempt {
  const { status } = response;
  if (isSuccess(response)) {
    const failure = request.expect?.(response);
    const isOwn = marks.isFromService(response);
    if (failure === undefined || (isOwn && request.anySuccess)) return { response };
    // The service would send the same response again.
    return { ...unrecognized(response, failure), ...(isOwn && { retry: undefined }) };
  }
  if (request.finalAt?.includes(status) && !isOwnProblem(response) && !marks.areShown()) return { response };
  const stillRunning = isStillRunning(response, keyMayHaveArrived);
  if (!stillRunning && !isTransientStatus(status)) {
    const isFinal = isOwnProblem(response) || marks.isFromService(response) || !mayBeFromGateway(response);
    return isFinal ? { response } : unrecognized(response, refusalOf(response, false));
  }
  const failure = { ...refusalOf(response), isTransient: true };
  return {
    failure,
    // A proxy may send a 5xx although the service has done the work.
    mayBeDone: stillRunning || status >= 500,
    retry: stillRunning || status === 429 || (status === 503 && failure.retryAfterMs) ? 'free' : 'counted',
  };
}

/**
 * Gateways send these if they have no route to the service, require a login, or show a maintenance page, sometimes to
 * replace a 502 after the service has done the work. Other refusals in JSON concern the request, such as those of the
 * token endpoint. A permanent redirect means a wrong base URL, and a request that is too large stays too large.
 */
const mayBeFromGateway = ({ status, body }: ClientResponse): boolean =>
  [302, 303, 307, 401, 403, 404, 405, 409, 410, 412].includes(status) ||
  (status >= 400 && body.kind !== 'json' && ![413, 414, 431].includes(status));

/** An unrecognized response proves nothing, not even that the request had no effect. */
const unrecognized = (response: ClientResponse, failure: Failure): FailedAttempt => ({
  failure,
  mayBeDone: true,
  retry: failure.isTransient ? 'counted' : undefined,
  response,
});
