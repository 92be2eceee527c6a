import {
  type FieldError,
  type ProblemName,
  problemMediaType,
  problems,
  problemTypePrefix,
} from '../../interface/problem.ts';
import type { Scope } from '../../interface/scopes.ts';
import type { ApiResponse } from './response.ts';
import type { Problem } from './schemas.ts';

interface RefusalExtras
  extends Pick<Problem, 'errors' | 'lock' | 'closed_until' | 'locks' | 'blocked' | 'lost' | 'outdated' | 'queue'> {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Ends a request with a problem. Thrown in a transaction, it rolls back what the request changed. */
export class Refusal extends Error {
  readonly problem: ProblemName;
  readonly extras: RefusalExtras;

  constructor(problem: ProblemName, detail: string, extras: RefusalExtras = {}) {
    super(detail);
    this.name = 'Refusal';
    this.problem = problem;
    this.extras = extras;
  }
}

export const unavailable = (detail: string, retryAfterSeconds = 2): Refusal =>
  new Refusal('unavailable', detail, { headers: { 'retry-after': String(retryAfterSeconds) } });

export const noSuchWorkspace = (id: string): Refusal =>
  new Refusal('not-found', `There is no workspace ${JSON.stringify(id)} that this token can see.`);

/** For invalid fields. The detail repeats the first error, for clients that show nothing else. */
export function invalid(...errors: readonly [FieldError, ...FieldError[]]): Refusal {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const subject = first.pointer === '#' ? 'The request body' : first.pointer.replace(/^#\//, '');
  return new Refusal('invalid-request', `${subject}: ${first.detail}${more}`, { errors });
}

export function toProblemResponse(
  name: ProblemName,
  detail: string,
  requestId: string,
  { headers = {}, ...members }: RefusalExtras = {},
): ApiResponse {
  const { status, title } = problems[name];
  const problem: Problem = {
    type: problemTypePrefix + name,
    title,
    status,
    detail,
    request_id: requestId,
    ...members,
  };
  return {
    status,
    headers: {
      ...headers,
      'content-type': problemMediaType,
      'x-request-id': requestId,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
    body: JSON.stringify(problem),
  };
}

export const realm = 'Bearer realm="workspace-service"';

export function insufficientScope(needed: Scope, held: readonly Scope[]): Refusal {
  const has = held.length === 0 ? 'no scope' : `only ${held.join(', ')}`;
  return new Refusal('insufficient-scope', `This needs the scope ${needed}, and the token has ${has}.`, {
    headers: { 'www-authenticate': `${realm}, error="insufficient_scope", scope="${needed}"` },
  });
}
