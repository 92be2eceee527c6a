/**
 * RFC 9457. `type` is the prefix and one of these names, so that programs can distinguish problems with the same
 * status.
 */
export const problemTypePrefix = 'urn:workspace-automation:problem:';

export const problems = {
  'malformed-request': { status: 400, title: 'Malformed request' },
  unauthorized: { status: 401, title: 'Unauthorized' },
  'insufficient-scope': { status: 403, title: 'Insufficient scope' },
  'lock-of-another-owner': { status: 403, title: 'Lock held by another owner' },
  'lease-of-another-owner': { status: 403, title: 'Lease of another owner' },
  'cross-site': { status: 403, title: 'Cross-site request' },
  'read-only': { status: 403, title: 'Read-only' },
  'not-found': { status: 404, title: 'Not found' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'request-timeout': { status: 408, title: 'Request timeout' },
  locked: { status: 409, title: 'Path locked' },
  outdated: { status: 409, title: 'File outdated' },
  'request-in-progress': { status: 409, title: 'Request in progress' },
  'lease-ended': { status: 410, title: 'Lease ended' },
  'lock-changed': { status: 412, title: 'Lock changed' },
  'body-too-large': { status: 413, title: 'Request body too large' },
  'unsupported-media-type': { status: 415, title: 'Unsupported media type' },
  'invalid-request': { status: 422, title: 'Invalid request' },
  'idempotency-key-reused': { status: 422, title: 'Idempotency key reused' },
  'lease-reused': { status: 422, title: 'Lease id reused' },
  'quota-exceeded': { status: 422, title: 'Quota exceeded' },
  'rate-limited': { status: 429, title: 'Too many requests' },
  'headers-too-large': { status: 431, title: 'Request headers too large' },
  'internal-error': { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Service unavailable' },
} as const;

export type ProblemName = keyof typeof problems;

export interface QueuePosition {
  /** Counted from 1. */
  readonly position: number;
  readonly length: number;
}

export const problemMediaType = 'application/problem+json';
