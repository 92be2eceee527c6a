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

/** Why an operation has no result. Its message is a sentence for a person, in one line. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly failure: Failure;
  readonly attempts: number;

  constructor(call: FailedCall, failure: Failure) {
    super(sentenceOf(call, failure));
    this.failure = failure;
    this.attempts = call.attempts;
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

function adviceOn({ status, missingScope }: Refused): string {
  if (missingScope !== undefined) return ` Use a token or a trust rule that has the scope ${missingScope}.`;
  return status === 401 ? ' The token may have expired or been revoked: create a new one, and update the secret.' : '';
}

function refusedText(refused: Refused): string {
  const words = refused.words ?? (refused.status < 500 ? 'The service refused the request' : 'The service failed');
  return asSentence(words) + fieldsText(refused.fields, words) + adviceOn(refused);
}

function redirectedText({ target }: Redirected): string {
  const to = target === undefined ? '' : ` to ${target}`;
  return `The service redirects${to}. Redirects are not followed, because the token would travel with them: use the address where the service really is.`;
}

function outOfTimeText({ last, retryAfterMs, limited }: OutOfTime): string {
  if (last === undefined && limited) {
    return 'The service limits how many requests it takes, and other requests came first: this one was not sent in time.';
  }
  if (last === undefined) return 'The service did not answer in time.';
  const before = failureText(last);
  if (retryAfterMs === undefined) return `${before} There was no time left to try again.`;
  return `${before} The service asks to wait for ${spanOfMs(retryAfterMs)}, and less time is left.`;
}

function connectionText({ words, untrusted }: ConnectionFailed): string {
  if (!untrusted) return asSentence(`The connection failed: ${words}`);
  const why = asSentence(`The server cannot be trusted, so nothing was sent: ${words}`);
  return `${why} If its certificate is from your own authority, name that in NODE_EXTRA_CA_CERTS.`;
}

function unusableText({ why, excerpt }: Unusable): string {
  const begins = excerpt === '' ? '' : ` It begins with: ${asSentence(excerpt)}`;
  return asSentence(`The answer cannot be used: ${why}`) + begins;
}

function failureText(failure: Failure): string {
  switch (failure.kind) {
    case 'refused':
      return refusedText(failure);
    case 'redirected':
      return redirectedText(failure);
    case 'not-json':
    case 'not-understood':
    case 'too-large':
      return unusableText(failure);
    case 'timeout':
      return `The service did not answer within ${spanOfMs(failure.limitMs)}.`;
    case 'connection':
      return connectionText(failure);
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

/** The cause, what to do, and then which request it was, in one line. */
function sentenceOf({ method, path, attempts }: FailedCall, failure: Failure): string {
  // It is about other requests.
  if (failure.kind === 'no-token') return failure.why;
  const answer = answerIn(failure);
  const status = answer && `: ${answer.status} ${STATUS_CODES[answer.status] ?? ''}`.trimEnd();
  const id = answer?.requestId === undefined ? '' : `, request id ${answer.requestId}`;
  const tried = attempts > 1 ? `, ${attempts} attempts` : '';
  return `${failureText(failure).replace(/\.$/, '')} (${method} ${path}${status ?? ''}${id}${tried}).`;
}
