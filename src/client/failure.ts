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

/** No answer to one attempt within the limit for each. */
export interface TimedOut {
  readonly kind: 'timeout';
  readonly limitMs: number;
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
export interface OutOfTime {
  readonly kind: 'deadline';
  /** What the last attempt ended with; undefined when none came to its end. */
  readonly last: Failure | undefined;
  /** The service asked to wait for so long, which is beyond the deadline. */
  readonly retryAfterMs: number | undefined;
  /** It had to wait for the service's rate limit. */
  readonly limited?: boolean | undefined;
}

export interface Aborted {
  readonly kind: 'aborted';
}

/** Nothing was sent: no request can be made of what was given. */
export interface Unsendable {
  readonly kind: 'unsendable';
  readonly why: string;
}

export type Failure = Refused | Redirected | Unusable | TimedOut | ConnectionFailed | OutOfTime | Aborted | Unsendable;

/** What of the answer is known that a failure is about; undefined when there was none. */
export function answerIn(failure: Failure): Refused | Redirected | Unusable | undefined {
  if (failure.kind === 'deadline') return failure.last && answerIn(failure.last);
  return 'status' in failure ? failure : undefined;
}
