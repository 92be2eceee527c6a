import { STATUS_CODES } from 'node:http';
import { spanOfMs } from '../interface/duration.ts';

/** What was wrong with one part of a request. */
export interface RefusedField {
  /** `ttl`, `hook/url`; undefined when the service named none. */
  readonly field: string | undefined;
  readonly detail: string;
}

export interface Refused {
  readonly kind: 'refused';
  readonly status: number;
  /** False for an answer that may be a gateway's. */
  readonly isRecognized: boolean;
  /** The service's own, in one line; undefined when it said nothing. */
  readonly words: string | undefined;
  readonly requestId: string | undefined;
  readonly fields: readonly RefusedField[];
  /** Of a 403 that says so (RFC 6750). */
  readonly missingScope: string | undefined;
  readonly retryAfterMs: number | undefined;
}

/** Redirects are never followed, because the token would travel. */
export interface Redirected {
  readonly kind: 'redirected';
  readonly status: number;
  readonly isRecognized: boolean;
  /** Origin and path, without a query; undefined when the service named none. */
  readonly target: string | undefined;
  readonly requestId: string | undefined;
}

/** An answer of success that cannot be used. */
export interface Unusable {
  readonly kind: 'not-json' | 'not-understood' | 'too-large';
  readonly status: number;
  /** Half a sentence: what is wrong with it. */
  readonly why: string;
  readonly excerpt: string;
  readonly requestId: string | undefined;
}

export interface ConnectionFailed {
  readonly kind: 'connection';
  /** The system's name of it, such as ECONNRESET. */
  readonly code: string | undefined;
  readonly words: string;
  /** Whether the request can have arrived at the service. */
  readonly mayHaveArrived: boolean;
  /** A certificate that is not trusted now will not be in a second. */
  readonly untrusted: boolean;
}

/** The deadline of the operation came first. */
interface OutOfTime {
  readonly kind: 'deadline';
  /** What the last attempt ended with; undefined when none came to its end. */
  readonly last: Failure | undefined;
  /** The service asked to wait for so long, which is beyond the deadline. */
  readonly retryAfterMs: number | undefined;
  /** It had to wait for the service's rate limit. */
  readonly limited?: boolean | undefined;
}

/** Nothing was sent, because there is no token to send it with. */
export interface NoToken {
  readonly kind: 'no-token';
  /** Whole sentences. */
  readonly why: string;
  /** That for the token, as an error names it; undefined where there was none. */
  readonly request: string | undefined;
  /** There may be one at another attempt. */
  readonly transient: boolean;
}

export type Failure =
  | Refused
  | Redirected
  | Unusable
  | ConnectionFailed
  | OutOfTime
  | NoToken
  /** No answer to one attempt within the limit for each. */
  | { readonly kind: 'timeout'; readonly limitMs: number }
  | { readonly kind: 'aborted' }
  /** Nothing was sent: no request can be made of what was given. */
  | { readonly kind: 'unsendable'; readonly why: string };

/** What of the answer is known that a failure is about; undefined when there was none. */
function answerIn(failure: Failure): Refused | Redirected | Unusable | undefined {
  if (failure.kind === 'deadline') return failure.last && answerIn(failure.last);
  return 'status' in failure ? failure : undefined;
}

interface FailedCall {
  readonly method: string;
  /** As in the URL, without origin and query. */
  readonly path: string;
  /** How often it was sent. */
  readonly attempts: number;
}

/** Why an operation has no result. Its message is for a person, in one line: the cause, what to do, and the request. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly failure: Failure;
  readonly attempts: number;
  /** What happened, in whole sentences. */
  readonly reason: string;
  /** What to do now, behind a blank; empty where the reason says enough. */
  readonly advice: string;
  /** `GET /v1/workspaces: 401 Unauthorized, request id req_1` */
  readonly request: string | undefined;

  constructor(call: FailedCall, failure: Failure) {
    const reason = reasonOf(failure);
    const request = failure.kind === 'no-token' ? failure.request : requestText(call, failure);
    const advice = adviceOn(failure);
    super(withRequest(reason + advice, request));
    this.failure = failure;
    this.attempts = call.attempts;
    this.reason = reason;
    this.advice = advice;
    this.request = request;
  }

  /** Of the last answer, where there was one. */
  get status(): number | undefined {
    return answerIn(this.failure)?.status;
  }

  get requestId(): string | undefined {
    return answerIn(this.failure)?.requestId;
  }
}

const asSentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

const maxFieldsShown = 5;

function fieldsText(fields: readonly RefusedField[], words: string): string {
  const added = fields.filter(({ detail }) => !words.includes(detail));
  const shown = added
    .slice(0, maxFieldsShown)
    .map(({ field, detail }) => ` ${field === undefined ? '' : `${field}: `}${asSentence(detail)}`);
  const more = added.length - shown.length;
  return shown.join('') + (more > 0 ? ` And ${more} more.` : '');
}

function refusedText(refused: Refused): string {
  const words = refused.words ?? (refused.status < 500 ? 'The service refused the request' : 'The service failed');
  return asSentence(words) + fieldsText(refused.fields, words);
}

function outOfTimeText({ last, retryAfterMs, limited }: OutOfTime): string {
  if (last === undefined && limited) {
    return 'The service limits how many requests it takes, and other requests came first: this one was not sent in time.';
  }
  if (last === undefined) return 'The service did not answer in time.';
  const before = reasonOf(last);
  if (retryAfterMs === undefined) return `${before} There was no time left to try again.`;
  return `${before} The service asks to wait for ${spanOfMs(retryAfterMs)}, and less time is left.`;
}

function unusableText({ why, excerpt }: Unusable): string {
  const begins = excerpt === '' ? '' : ` It begins with: ${asSentence(excerpt)}`;
  return asSentence(`The answer cannot be used: ${why}`) + begins;
}

function reasonOf(failure: Failure): string {
  switch (failure.kind) {
    case 'refused':
      return refusedText(failure);
    case 'redirected': {
      const to = failure.target === undefined ? '' : ` to ${failure.target}`;
      return `The service redirects${to}. Redirects are not followed, because the token would travel with them.`;
    }
    case 'not-json':
    case 'not-understood':
    case 'too-large':
      return unusableText(failure);
    case 'timeout':
      return `The service did not answer within ${spanOfMs(failure.limitMs)}.`;
    case 'connection':
      return asSentence(
        failure.untrusted
          ? `The server cannot be trusted, so nothing was sent: ${failure.words}`
          : `The connection failed: ${failure.words}`,
      );
    case 'deadline':
      return outOfTimeText(failure);
    case 'no-token':
      return failure.why;
    case 'aborted':
      return 'The request was cancelled.';
    case 'unsendable':
      return `The request cannot be sent: ${failure.why}.`;
  }
}

function adviceOnRefusal({ status, isRecognized, words, missingScope, requestId }: Refused): string {
  if (missingScope !== undefined) return ` Use a token or a trust rule that has the scope ${missingScope}.`;
  if (status === 401) return ' The token may have expired or been revoked: create a new one, and update the secret.';
  if (!isRecognized)
    return ' Check the address, and any gateway in front of the service: it may have answered in its place.';
  if (words !== undefined) return '';
  if (status === 403) return ' Check what the token may do.';
  if (status === 404) return ' Check the address, and the id of the workspace.';
  if (status < 500) return '';
  return ` The log of the service has the cause${requestId === undefined ? '' : ', under the request id'}.`;
}

const unansweredAdvice = ' Check that it is running, or give it more time to answer.';

function adviceOn(failure: Failure): string {
  switch (failure.kind) {
    case 'refused':
      return adviceOnRefusal(failure);
    case 'redirected':
      return ' Use the address where the service really is.';
    case 'not-json':
    case 'not-understood':
    case 'too-large':
      return ' Check that it is the service that answers at this address, and nothing in front of it.';
    case 'timeout':
      return unansweredAdvice;
    case 'connection':
      return failure.untrusted
        ? ' If its certificate is from your own authority, name that in NODE_EXTRA_CA_CERTS.'
        : ' Check the address, and that it can be reached from here.';
    case 'deadline':
      if (failure.last !== undefined) return adviceOn(failure.last);
      return failure.limited ? '' : unansweredAdvice;
    case 'no-token':
    case 'aborted':
    case 'unsendable':
      return '';
  }
}

function requestText({ method, path, attempts }: FailedCall, failure: Failure): string {
  const answer = answerIn(failure);
  const status = answer && `: ${answer.status} ${STATUS_CODES[answer.status] ?? ''}`.trimEnd();
  const id = answer?.requestId === undefined ? '' : `, request id ${answer.requestId}`;
  const tried = attempts > 1 ? `, ${attempts} attempts` : '';
  return `${method} ${path}${status ?? ''}${id}${tried}`;
}

/** Sentences, and at the end of the last one, in brackets, the request that they are about. */
export const withRequest = (sentences: string, request: string | undefined): string =>
  request === undefined ? sentences : `${sentences.replace(/\.$/, '')} (${request}).`;
