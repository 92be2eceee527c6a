import { formatElapsed } from '../interface/format.ts';
import type { Outdated } from '../interface/resources.ts';

export interface RefusedField {
  /** Such as `ttl` or `hook/url`; undefined if the service named none. */
  readonly field: string | undefined;
  readonly detail: string;
}

export interface Refused {
  readonly kind: 'refused';
  readonly status: number;
  /** False if the response may be from a gateway. */
  readonly isRecognized: boolean;
  /** The response is a problem of this project's service. */
  readonly isOwnProblem: boolean;
  /** The message of the service, on one line; undefined if it sent none. */
  readonly message: string | undefined;
  readonly requestId: string | undefined;
  readonly fields: readonly RefusedField[];
  /** From a 403 that names it (RFC 6750). */
  readonly missingScope: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** The service refused locks because these files have newer versions. */
  readonly outdated?: readonly Outdated[];
  /** Target of a redirect, without its query. Redirects are not followed, because that would send the token along. */
  readonly redirect?: string | undefined;
}

export interface Unusable {
  readonly kind: 'unusable';
  readonly status: number;
  /** Part of a sentence: the problem with the response. */
  readonly reason: string;
  /** A sentence about the body, such as "It is an object with: items."; empty if nothing of it is shown. */
  readonly content: string;
  readonly requestId: string | undefined;
  /** The service would send the same response again, or one that is too large. */
  readonly isRecognized?: boolean;
}

export interface ConnectionFailed {
  readonly kind: 'connection';
  /** Part of a sentence about the server. */
  readonly message: string;
  readonly mayHaveArrived: boolean;
  /** The certificate is not trusted, which a retry would not change. */
  readonly untrusted: boolean;
}

/** The deadline of the operation was reached first. */
interface OutOfTime {
  readonly kind: 'deadline';
  /** The failure of the last attempt; undefined if no attempt was completed. */
  readonly last: RequestFailure | undefined;
  /** The wait that the service asked for, if it lasts beyond the deadline. */
  readonly retryAfterMs: number | undefined;
}

/** Nothing was sent, because there was no token for the request. */
interface NoToken {
  readonly kind: 'no-token';
  /** Complete sentences. */
  readonly reason: string;
  /** The request for the token, as shown in errors; undefined if there was none. */
  readonly request: string | undefined;
  readonly transient: boolean;
}

export type RequestFailure =
  | Refused
  | Unusable
  | ConnectionFailed
  | OutOfTime
  | NoToken
  /** No response within the timeout of an attempt. */
  | { readonly kind: 'timeout'; readonly limitMs: number }
  | { readonly kind: 'aborted' }
  /** The service knows only the interface. A complete sentence. */
  | { readonly kind: 'unsupported'; readonly reason: string };

interface FailedCall {
  readonly method: string;
  /** As in the URL, without origin and query. */
  readonly path: string;
  readonly attempts: number;
  readonly server?: string | undefined;
}

/** Why an operation has no result. The message is one line for users: the cause, the advice and the request. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly failure: RequestFailure;
  readonly call: FailedCall;
  /** The cause, in complete sentences. */
  readonly reason: string;
  /** The advice, after a space; empty if the reason says enough. */
  readonly advice: string;
  /** Such as `GET /v1/workspaces: 401 Unauthorized, request id req_1`. */
  readonly request: string | undefined;

  constructor(call: FailedCall, failure: RequestFailure) {
    const [reason, advice = ''] = explain(failure, call.server ?? 'The service');
    const request = failure.kind === 'no-token' ? failure.request : requestText(call, failure);
    super(withRequest(reason + advice, request));
    this.failure = failure;
    this.call = call;
    this.reason = reason;
    this.advice = advice;
    this.request = request;
  }

  get attempts(): number {
    return this.call.attempts;
  }

  get status(): number | undefined {
    return responseIn(this.failure)?.status;
  }
}

export function isTransient({ failure }: ServiceError): boolean {
  switch (failure.kind) {
    case 'refused':
      return !failure.isRecognized || isTransientStatus(failure.status);
    case 'unusable':
      return failure.isRecognized !== true;
    case 'timeout':
    case 'deadline':
      return true;
    case 'connection':
      return !failure.untrusted;
    case 'no-token':
      return failure.transient;
    case 'aborted':
    case 'unsupported':
      return false;
  }
}

/** Statuses of a server that knows only the interface, without this route. */
export const unknownRoute: readonly number[] = [404, 405, 501];

/** Whether a service that knows only the interface answered, or a gateway, until no retries were left. */
export function knowsNoRoute({ failure }: ServiceError): boolean {
  const refused = responseIn(failure);
  return refused?.kind === 'refused' && unknownRoute.includes(refused.status) && !refused.isOwnProblem;
}

export const retryAfterOf = (failure: RequestFailure): number | undefined =>
  failure.kind === 'deadline' || failure.kind === 'refused' ? failure.retryAfterMs : undefined;

export const isTransientStatus = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status < 600);

export const withRequest = (sentences: string, request: string | undefined): string =>
  request === undefined ? sentences : `${sentences.replace(/\.$/, '')} (${request}).`;

type Explanation = readonly [reason: string, advice?: string | undefined];

const unansweredAdvice = ' Check that it is running, or give it more time to answer.';

function explain(failure: RequestFailure, server: string): Explanation {
  switch (failure.kind) {
    case 'refused':
      return [refusedText(failure, server), adviceOnRefusal(failure)];
    case 'unusable':
      return [
        unusableText(failure),
        ' Check that this URL belongs to the service, and that no gateway in front of it answered instead.',
      ];
    case 'timeout':
      return [`${server} did not answer within ${formatElapsed(failure.limitMs)}.`, unansweredAdvice];
    case 'connection':
      return explainConnection(failure);
    case 'deadline':
      return explainDeadline(failure, server);
    case 'no-token':
    case 'unsupported':
      return [failure.reason];
    case 'aborted':
      return ['The request was cancelled.'];
  }
}

function explainDeadline({ last, retryAfterMs }: OutOfTime, server: string): Explanation {
  if (last === undefined) return [`${server} did not answer in time.`, unansweredAdvice];
  const [reason, advice] = explain(last, server);
  return retryAfterMs === undefined
    ? [`${reason} There was no time left to try again.`, advice]
    : [`${reason} ${server} asked to wait ${formatElapsed(retryAfterMs)}, longer than the time left.`, advice];
}

function explainConnection({ untrusted, message }: ConnectionFailed): Explanation {
  if (untrusted) {
    return [
      asSentence(`The certificate of the server is not trusted, so nothing was sent: ${message}`),
      ' If your own CA signed its certificate, set NODE_EXTRA_CA_CERTS to the file of that CA.',
    ];
  }
  return [
    asSentence(`The connection to the server failed: ${message}`),
    ' Check the URL, and that this machine can reach the server.',
  ];
}

function refusedText(refused: Refused, server: string): string {
  if (isRedirect(refused)) {
    const to = refused.redirect === undefined ? '' : ` to ${refused.redirect}`;
    return `${server} redirects${to}. Redirects are not followed, because they would expose the token.`;
  }
  const message = refused.message ?? (refused.status < 500 ? `${server} refused the request` : `${server} failed`);
  return asSentence(message) + fieldsText(refused.fields, message);
}

const isRedirect = ({ status }: Refused): boolean => status >= 300 && status < 400;

const fieldsText = (fields: readonly RefusedField[], message: string): string =>
  fields
    .filter(({ detail }) => !message.includes(detail))
    .map(({ field, detail }) => ` ${field === undefined ? '' : `${field}: `}${asSentence(detail)}`)
    .join('');

const unusableText = ({ reason, content }: Unusable): string =>
  asSentence(`The response cannot be used: ${reason}`) + (content && ` ${content}`);

export const asSentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

function adviceOnRefusal(refused: Refused): string {
  const { status, isRecognized, isOwnProblem, message, missingScope } = refused;
  if (isRedirect(refused)) return ' Set the base URL to the actual URL of the service.';
  if (missingScope !== undefined) return ` Use a token or a trust rule that has the scope ${missingScope}.`;
  if (status === 401) return ' The token may have expired or been revoked: create a new one, and update the secret.';
  if (!isRecognized) {
    return ' Check the base URL, and any gateway in front of the service: it may have answered in its place.';
  }
  if (status === 404 && (!isOwnProblem || message === undefined)) {
    return ' Check the base URL, whose path may be wrong, and the id of the workspace.';
  }
  if (message !== undefined) return '';
  if (status === 403) return ' Check the scopes of the token.';
  return status < 500 ? '' : ' The log of the service has the cause.';
}

function requestText({ method, path, attempts }: FailedCall, failure: RequestFailure): string {
  // Not imported: connection.ts has the reason.
  const { STATUS_CODES } = process.getBuiltinModule('node:http');
  const response = responseIn(failure);
  const status = response && `: ${response.status} ${STATUS_CODES[response.status] ?? ''}`.trimEnd();
  const id = response?.requestId === undefined ? '' : `, request id ${response.requestId}`;
  const tried = attempts > 1 ? `, ${attempts} attempts` : '';
  return `${method} ${path}${status ?? ''}${id}${tried}`;
}

/** The response that caused a failure; undefined if there was none. */
function responseIn(failure: RequestFailure): Refused | Unusable | undefined {
  if (failure.kind === 'deadline') return failure.last && responseIn(failure.last);
  return 'status' in failure ? failure : undefined;
}
