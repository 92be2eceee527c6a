import type { Lock } from './resources.ts';

/** RFC 9457. `type` is the prefix and one of these names, so that a program can tell problems of one status apart. */
export const problemTypePrefix = 'urn:workspace-automation:problem:';

export const problems = {
  'malformed-request': { status: 400, title: 'The request cannot be read' },
  unauthorized: { status: 401, title: 'A valid API token is needed' },
  'insufficient-scope': { status: 403, title: 'The token lacks a scope' },
  'lock-of-another-token': { status: 403, title: 'The lock belongs to another token' },
  'cross-site': { status: 403, title: 'The form came from somewhere else' },
  'not-found': { status: 404, title: 'There is nothing here' },
  'method-not-allowed': { status: 405, title: 'This address does not know the method' },
  'request-timeout': { status: 408, title: 'The request took too long to arrive' },
  locked: { status: 409, title: 'The path is locked' },
  'request-in-progress': { status: 409, title: 'The same request is still running' },
  'lock-changed': { status: 412, title: 'This is not the lock that is there' },
  'body-too-large': { status: 413, title: 'The request body is too large' },
  'unsupported-media-type': { status: 415, title: 'The request body is not JSON' },
  'invalid-request': { status: 422, title: 'The request is not valid' },
  'idempotency-key-reused': { status: 422, title: 'The idempotency key belongs to another request' },
  'quota-exceeded': { status: 422, title: 'There is as much of this as there may be' },
  'rate-limited': { status: 429, title: 'Too many requests' },
  'headers-too-large': { status: 431, title: 'The request headers are too large' },
  'internal-error': { status: 500, title: 'The service made a mistake' },
  unavailable: { status: 503, title: 'The service cannot do this now' },
} as const;

export type ProblemName = keyof typeof problems;

export interface FieldError {
  /** A JSON pointer as a URI fragment, as in RFC 9457 section 3: `#/ttl`. */
  readonly pointer: string;
  readonly detail: string;
}

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly request_id: string;
  readonly errors?: readonly FieldError[] | undefined;
  /** The lock that stands in the way. */
  readonly lock?: Lock | undefined;
}

export const problemMediaType = 'application/problem+json';
