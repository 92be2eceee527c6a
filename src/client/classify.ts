import type { Marks } from './marks.ts';
import { isOwnProblem, isStillRunning, refusalOf } from './refusal.ts';
import type { Request } from './request.ts';
import { type ClientResponse, isSuccess } from './response.ts';
import { isTransientStatus, type RequestFailure } from './service-error.ts';

export type AttemptResult =
  /** A response that another attempt would not change. */
  | { readonly kind: 'answered'; readonly response: ClientResponse }
  | {
      readonly kind: 'failed';
      readonly failure: RequestFailure;
      readonly mayBeDone: boolean;
      /**
       * Whether another attempt counts as one of the `retries`: waiting until the service is ready is limited by the
       * deadline alone. Undefined if another attempt would not help.
       */
      readonly retry: 'counted' | 'free' | undefined;
      /** A response that may be from a gateway: it counts only if it is confirmed in another way. */
      readonly unrecognized?: ClientResponse | undefined;
    };

export type FailedAttempt = Extract<AttemptResult, { kind: 'failed' }>;

interface ResponseContext {
  readonly request: Pick<Request, 'expect' | 'anySuccess' | 'finalAt'>;
  readonly keyMayHaveArrived: boolean;
  readonly marks: Pick<Marks, 'areShown' | 'isFromService'>;
}

/** Whether a response is final, or whether to try again: for all operations. */
export function classifyResponse(
  response: ClientResponse,
  { request, keyMayHaveArrived, marks }: ResponseContext,
): AttemptResult {
  const { status } = response;
  if (isSuccess(response)) {
    const failure = request.expect?.(response);
    if (failure === undefined) return { kind: 'answered', response };
    if (!marks.isFromService(response)) return unrecognized(response, failure);
    // The service would send the same again.
    return request.anySuccess
      ? { kind: 'answered', response }
      : { ...unrecognized(response, failure), retry: undefined };
  }
  if (request.finalAt?.includes(status) && !isOwnProblem(response) && !marks.areShown()) {
    return { kind: 'answered', response };
  }
  const stillRunning = isStillRunning(response, keyMayHaveArrived);
  if (!stillRunning && !isTransientStatus(status)) {
    const refusal = refusalOf(response);
    const isFinal = isOwnProblem(response) || marks.isFromService(response) || !mayBeFromGateway(response);
    if (isFinal) return { kind: 'answered', response };
    return unrecognized(response, { ...refusal, isRecognized: false });
  }
  const failure = refusalOf(response);
  return {
    kind: 'failed',
    failure,
    // A proxy may send the same after the service has done the work.
    mayBeDone: stillRunning || status >= 500,
    retry: stillRunning || status === 429 || (status === 503 && failure.retryAfterMs) ? 'free' : 'counted',
  };
}

/**
 * Gateways send these in place of a service: they have no route to it, require a login, or show a maintenance page. Some
 * do so after the service has done the work, to replace a 502. Other refusals in JSON are about the request, such as
 * those of the token endpoint; a permanent redirect means a wrong base URL, and a request that is too large stays so.
 */
const mayBeFromGateway = ({ status, body }: ClientResponse): boolean =>
  [302, 303, 307, 401, 403, 404, 405, 409, 410, 412].includes(status) ||
  (status >= 400 && body.kind !== 'json' && ![413, 414, 431].includes(status));

/** An unrecognized response proves nothing, not even that the request had no effect. */
const unrecognized = (response: ClientResponse, failure: RequestFailure): FailedAttempt => ({
  kind: 'failed',
  failure,
  mayBeDone: true,
  retry: failure.kind === 'unusable' && failure.isRecognized ? undefined : 'counted',
  unrecognized: response,
});
