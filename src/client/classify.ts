import { etagOf } from './known-lock.ts';
import { isOwnProblem, isStillRunning, refusalOf } from './refusal.ts';
import type { Request } from './request.ts';
import { type ClientResponse, isSuccess, objectIn } from './response.ts';
import { type Failure, isTransientStatus } from './service-error.ts';

export type AttemptResult =
  /** A final response: another attempt would not change it. */
  | { readonly kind: 'answered'; readonly response: ClientResponse }
  | {
      readonly kind: 'failed';
      readonly failure: Failure;
      readonly mayBeDone: boolean;
      /**
       * Whether another attempt counts as one of the `retries`. A service that is not ready yet is retried until the
       * deadline (`free`). Undefined if another attempt would not help.
       */
      readonly retry: 'counted' | 'free' | undefined;
      /** A response that may be from a gateway. It counts only if a lookup confirms it. */
      readonly unrecognized?: ClientResponse | undefined;
    };

export type FailedAttempt = Extract<AttemptResult, { kind: 'failed' }>;

/** Whether a response is final, or to be retried: the same rules for all operations. */
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
    // The service would send the same response again.
    return request.anySuccess
      ? { kind: 'answered', response }
      : { ...unrecognized(response, failure), retry: undefined };
  }
  if (request.finalAt?.includes(status) && !isOwnProblem(response) && !marks.areShown()) {
    return { kind: 'answered', response };
  }
  const stillRunning = isStillRunning(response, keyMayHaveArrived);
  if (!stillRunning && !isTransientStatus(status)) {
    const isFinal = isOwnProblem(response) || marks.isFromService(response) || !mayBeFromGateway(response);
    if (isFinal) return { kind: 'answered', response };
    return unrecognized(response, refusalOf(response, false));
  }
  const failure = { ...refusalOf(response), isTransient: true };
  return {
    kind: 'failed',
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
  kind: 'failed',
  failure,
  mayBeDone: true,
  retry: failure.isTransient ? 'counted' : undefined,
  unrecognized: response,
});

/** Stores, for all processes of a job, that the service has shown its marks. */
export interface MarksStore {
  read(): boolean;
  write(): void;
}

export type Marks = ReturnType<typeof createMarks>;

/**
 * Decides for all operations which responses are from the service. The interface leaves bodies and errors open, so a
 * service is believed until it has shown the marks. From then on, responses without marks are from a gateway.
 */
export function createMarks(store: MarksStore | undefined) {
  let shown = false;

  /** Reads the store only for a response without marks, because another process may write it at any time. */
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
    /** Whether a response without marks is the service's own: JSON or empty, as long as no marks were ever shown. */
    isFromService: ({ body }: ClientResponse): boolean =>
      (body.kind === 'json' || body.kind === 'empty') && !areShown(),
  };
}

/** For other servers than the service. Every refusal is their own, and a success must be complete. */
export const noMarks: Marks = {
  observe: () => undefined,
  areShown: () => true,
  isFromService: (response) => !isSuccess(response),
};

const bearsMarks = (response: ClientResponse): boolean =>
  isOwnProblem(response) ||
  (isSuccess(response) && (isOwnLock(response) || isOwnSync(response) || isOwnLease(response)));

/** The shape of a granted lock: it has a fence, and its id is also its ETag. */
function isOwnLock(response: ClientResponse): boolean {
  const { id, fence, expires_at } = objectIn(response);
  const isComplete = typeof id === 'string' && typeof fence === 'number' && typeof expires_at === 'string';
  return isComplete && etagOf(response) === `"${id}"`;
}

/** The bare interface has no leases. */
function isOwnLease(response: ClientResponse): boolean {
  const { id, state, locks, blocked } = objectIn(response);
  return typeof id === 'string' && typeof state === 'string' && (locks ?? blocked) !== undefined;
}

/** It has more counts than the interface defines. */
function isOwnSync(response: ClientResponse): boolean {
  const { sync_id, received_bytes, missing_objects } = objectIn(response);
  return typeof sync_id === 'string' && typeof received_bytes === 'number' && typeof missing_objects === 'number';
}
