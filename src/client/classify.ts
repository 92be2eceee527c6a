import { etagOf } from './known-lock.ts';
import { isOwnProblem, isStillRunning, refusalOf } from './refusal.ts';
import type { Request } from './request.ts';
import { type ClientResponse, isSuccess, objectIn } from './response.ts';
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

/** Whether a response is final, or whether to try again: for all operations. */
export function classifyResponse(
  response: ClientResponse,
  request: Pick<Request, 'expect' | 'anySuccess' | 'finalAt'>,
  keyMayHaveArrived: boolean,
  marks: Pick<Marks, 'areShown' | 'isFromService'>,
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

/** Remembers, for all processes of a job, that the service has shown its marks. */
export interface MarksStore {
  read(): boolean;
  write(): void;
}

export type Marks = ReturnType<typeof createMarks>;

/**
 * The rule that says who sent a response, for all operations. The interface leaves bodies and errors open, so a service
 * is taken at its word until it has shown the marks of ours. From then on, responses without them are from a gateway.
 */
export function createMarks(store: MarksStore | undefined) {
  let shown = false;

  /** Reads the store only if a response without marks makes it necessary. Another process may write it at any time. */
  function areShown(): boolean {
    shown ||= store?.read() === true;
    return shown;
  }

  return {
    observe(response: ClientResponse): void {
      if (shown || !bearsMarks(response)) return;
      shown = true;
      store?.write();
    },
    areShown,
    /** Whether the response, without any mark, is nevertheless the service's own: JSON, or nothing. */
    isFromService: ({ body }: ClientResponse): boolean =>
      (body.kind === 'json' || body.kind === 'empty') && !areShown(),
  };
}

/** For servers other than the service. Their refusals are their own, and their successes must be complete. */
export const noMarks: Marks = {
  observe: () => undefined,
  areShown: () => true,
  isFromService: (response) => !isSuccess(response),
};

const bearsMarks = (response: ClientResponse): boolean =>
  isOwnProblem(response) ||
  (isSuccess(response) && (isOwnLock(response) || isOwnSync(response) || isOwnLease(response)));

/** The shape of a granted lock: it has a fence, and its id is its ETag. */
function isOwnLock(response: ClientResponse): boolean {
  const { id, fence, expires_at } = objectIn(response);
  const isComplete = typeof id === 'string' && typeof fence === 'number' && typeof expires_at === 'string';
  return isComplete && etagOf(response) === `"${id}"`;
}

/** The interface has no leases. */
function isOwnLease(response: ClientResponse): boolean {
  const { id, state, locks, blocked } = objectIn(response);
  return typeof id === 'string' && typeof state === 'string' && (locks ?? blocked) !== undefined;
}

/** It counts more than the interface asks for. */
function isOwnSync(response: ClientResponse): boolean {
  const { sync_id, received_bytes, missing_objects } = objectIn(response);
  return typeof sync_id === 'string' && typeof received_bytes === 'number' && typeof missing_objects === 'number';
}
