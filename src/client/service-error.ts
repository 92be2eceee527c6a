import { formatElapsed } from '../interface/format.ts';
import type { Outdated } from '../interface/resources.ts';

/** Why a request has no result. All texts are safe to show. */
export interface Failure {
  readonly kind:
    | 'refused'
    /** A success without the requested resource. */
    | 'unusable'
    | 'connection'
    /** No response within the timeout of an attempt. */
    | 'timeout'
    /** The deadline of the operation was reached. The other fields are from the last attempt that was completed. */
    | 'deadline'
    /** Nothing was sent, because there was no token for the request. */
    | 'no-token'
    | 'aborted';
  /** The cause, in complete sentences. */
  readonly reason: string;
  /** Follows the reason, after a space. Missing if the reason says enough. */
  readonly advice?: string | undefined;
  /** Whether the same request may succeed later. */
  readonly isTransient: boolean;
  /** Status and request id of the response that caused the failure. */
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** The response is a problem of this project's service. */
  readonly isOwnProblem?: boolean | undefined;
  /** From a 403 that names it (RFC 6750). */
  readonly missingScope?: string | undefined;
  /** The wait that the service asked for. After the deadline, only if it lasts longer than the time that was left. */
  readonly retryAfterMs?: number | undefined;
  /** The service refused locks because these files have newer versions. */
  readonly outdated?: readonly Outdated[] | undefined;
  /** The failed request for a token, as shown in errors. */
  readonly tokenRequest?: string | undefined;
}

interface FailedCall {
  readonly method: string;
  /** As in the URL, without origin and query. */
  readonly path: string;
  readonly attempts: number;
}

/** Why an operation has no result. The message is one line for users: the cause, the advice and the request. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly failure: Failure;
  readonly call: FailedCall;
  /** Such as `GET /v1/workspaces: 401 Unauthorized, request id req_1`. */
  readonly request: string | undefined;

  constructor(call: FailedCall, failure: Failure) {
    const request = failure.kind === 'no-token' ? failure.tokenRequest : requestText(call, failure);
    super(withRequest(failure.reason + (failure.advice ?? ''), request));
    this.failure = failure;
    this.call = call;
    this.request = request;
  }

  get reason(): string {
    return this.failure.reason;
  }

  get advice(): string {
    return this.failure.advice ?? '';
  }

  get isTransient(): boolean {
    return this.failure.isTransient;
  }

  get status(): number | undefined {
    return this.failure.status;
  }

  /** Whether someone else holds the lock. A 403 for a missing scope, or of a gateway, does not show that. */
  get isAboutHolder(): boolean {
    const { status, isTransient, missingScope } = this.failure;
    return status === 403 && !isTransient && missingScope === undefined;
  }

  get attempts(): number {
    return this.call.attempts;
  }
}

/** Statuses of a server that knows only the interface, without this route. */
export const unknownRoute: readonly number[] = [404, 405, 501];

/** Whether a service that knows only the interface answered, or a gateway, until no retries were left. */
export const knowsNoRoute = ({ failure }: ServiceError): boolean =>
  unknownRoute.includes(failure.status ?? 0) && !failure.isOwnProblem;

export const isTransientStatus = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status < 600);

export const withRequest = (sentences: string, request: string | undefined): string =>
  request === undefined ? sentences : `${sentences.replace(/\.$/, '')} (${request}).`;

export const asSentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** No response in time. */
export const unanswered = (kind: 'timeout' | 'deadline', server: string, when: string): Failure => ({
  kind,
  reason: `${server} did not answer ${when}.`,
  advice: ' Check that it is running, or give it more time to answer.',
  isTransient: true,
});

/** The deadline was reached after a failed attempt. `retryAfterMs` is set if the service asked to wait longer. */
export const outOfTime = (server: string, last: Failure, retryAfterMs?: number): Failure => ({
  ...last,
  kind: 'deadline',
  reason:
    retryAfterMs === undefined
      ? `${last.reason} There was no time left to try again.`
      : `${last.reason} ${server} asked to wait ${formatElapsed(retryAfterMs)}, longer than the time left.`,
  isTransient: true,
  retryAfterMs,
});

function requestText({ method, path, attempts }: FailedCall, { status, requestId }: Failure): string {
  // Not imported: connection.ts has the reason.
  const { STATUS_CODES } = process.getBuiltinModule('node:http');
  const answer = status === undefined ? '' : `: ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
  const id = requestId === undefined ? '' : `, request id ${requestId}`;
  const tried = attempts > 1 ? `, ${attempts} attempts` : '';
  return `${method} ${path}${answer}${id}${tried}`;
}
