import type { z } from '@hono/zod-openapi';
import type { Parsed } from '../../interface/parsed.ts';
import { type ProblemName, problemMediaType, problems, problemTypePrefix } from '../../interface/problem.ts';
import type { Problem } from './schemas.ts';
import type { Scope } from './scopes.ts';

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for no body. JSON, unless the headers set another type. */
  readonly body: string;
}

export const jsonApiResponse = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): ApiResponse => ({
  status,
  headers,
  body: JSON.stringify(body),
});

export const emptyResponse = (status: number): ApiResponse => ({ status, headers: {}, body: '' });

interface RefusalExtras extends Pick<Problem, 'errors' | 'lock' | 'locks' | 'blocked' | 'lost' | 'outdated' | 'queue'> {
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Ends a request with a problem. If thrown in a transaction, it rolls back the changes of the request. A batch returns it
 * instead, as its decision about one of the requests.
 */
export class Refusal extends Error {
  readonly kind = 'refused';
  readonly problem: ProblemName;
  readonly extras: RefusalExtras;

  constructor(problem: ProblemName, detail: string, extras: RefusalExtras = {}) {
    super(detail);
    this.name = 'Refusal';
    this.problem = problem;
    this.extras = extras;
  }
}

export const unavailableRetrySeconds = 2;

export const unavailable = (detail: string, retryAfterSeconds = unavailableRetrySeconds): Refusal =>
  new Refusal('unavailable', detail, { headers: { 'retry-after': String(retryAfterSeconds) } });

export const noSuchWorkspace = (id: string): Refusal =>
  new Refusal('not-found', `There is no workspace ${JSON.stringify(id)} that this token can see.`);

/** The pointer is a URI fragment, as in RFC 9457 section 3. */
type FieldError = NonNullable<Problem['errors']>[number];

/** For invalid fields. The detail repeats the first error, for clients that show nothing else. */
export function invalid(...errors: readonly [FieldError, ...FieldError[]]): Refusal {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const subject = first.pointer === '#' ? 'The request body' : first.pointer.replace(/^#\//, '');
  return new Refusal('invalid-request', `${subject}: ${first.detail}${more}`, { errors });
}

/** The parsed value of a field, or a refusal that names the field. */
export function valid<T>(field: string, parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw invalid({ pointer: `#/${field}`, detail: parsed.reason });
}

export function toProblemResponse(
  name: ProblemName,
  detail: string,
  requestId: string,
  { headers = {}, ...members }: RefusalExtras = {},
) {
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
    headers: { ...commonHeaders(requestId), ...headers, 'content-type': problemMediaType },
    body: JSON.stringify(problem),
  };
}

/** Headers of every response that does not set them itself. */
export const commonHeaders = (requestId: string) => ({
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-request-id': requestId,
});

export const realm = 'Bearer realm="workspace-service"';

export function insufficientScope(needed: Scope, held: readonly Scope[]): Refusal {
  const has = held.length === 0 ? 'no scope' : `only ${held.join(', ')}`;
  return new Refusal('insufficient-scope', `This needs the scope ${needed}, and the token has ${has}.`, {
    headers: { 'www-authenticate': `${realm}, error="insufficient_scope", scope="${needed}"` },
  });
}

export const maxErrors = 20;

/** Parses a part of a request with its schema, or rejects the request with an error for each invalid field. */
export function parseRequestPart<Output>(schema: z.ZodType<Output> | undefined, part: unknown): Output {
  // Without a schema, the operation has no such part, and its handler expects undefined.
  if (schema === undefined) return undefined as Output;
  const parsed = schema.safeParse(part, { reportInput: true });
  if (parsed.success) return parsed.data;
  const errors = new Map<string, FieldError>();
  for (const issue of parsed.error.issues) {
    const pointer = pointerTo(issue.path);
    // Further errors of a field usually follow from the first one.
    if (!errors.has(pointer)) errors.set(pointer, { pointer, detail: errorMessage(issue) });
  }
  const [first = { pointer: '#', detail: 'It is not valid.' }, ...more] = errors.values();
  throw invalid(first, ...more.slice(0, maxErrors - 1));
}

/** Undefined if the text is not JSON, or does not match the schema. */
export function parseJson<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** RFC 6901 section 6: a JSON pointer as a URI fragment. */
export const pointerTo = (path: readonly PropertyKey[]): string =>
  `#${path.map((key) => `/${encodeSegment(key)}`).join('')}`;

/** A JSON key may contain a lone surrogate, which cannot be encoded. */
const encodeSegment = (key: PropertyKey): string =>
  encodeURIComponent(String(key).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1'));

function errorMessage(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'It is missing.' : `It must be of type ${issue.expected}.`;
    case 'invalid_value':
      return `It must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}.`;
    default:
      return issue.message;
  }
}
