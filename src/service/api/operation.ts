import type { OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { problemMediaType } from '../../interface/problem.ts';
import { type Access, type AccessControl, type Charge, requireAccess } from '../access/access.ts';
import { requestedWorkspace } from '../access/caller.ts';
import type { ApiResponse } from '../contract/response.ts';
import { problemSchema } from '../contract/schemas.ts';
import { parseRequestPart } from '../contract/validate.ts';
import { readJsonBody } from '../http/body.ts';
import { type Environment, send } from '../http/context.ts';
import { readQuery, refuseUnknownParameters } from '../http/urlencoded.ts';
import type { FoundWorkspace } from '../workspaces/workspaces.ts';
import { workspaceParameter } from './parameters.ts';

const text = (description: string, example?: string) => ({
  description,
  schema: { type: 'string' as const, ...(example !== undefined && { example }) },
});

/** Response headers for the OpenAPI document, without the general ones of HTTP. */
const responseHeaders = {
  'X-Request-Id': text('Identifies the request in the log of the service; also the request_id of a problem.'),
  'Cache-Control': text('Responses must not be stored.', 'no-store'),
  'X-Content-Type-Options': text('Responses must not be interpreted as another type.', 'nosniff'),
  'RateLimit-Policy': text(
    'How many requests the token may send at once (q), and the seconds until the quota is full again (w). Absent if the operator has set no limit.',
    '"token";q=60000;w=60',
  ),
  RateLimit: text(
    'How many requests the token has left (r), and the seconds until there is one (t). Absent if the operator has set no limit.',
    '"token";r=59999;t=0',
  ),
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': text(
    'What is wrong with the token, or which scope it lacks (RFC 6750).',
    'Bearer realm="workspace-service"',
  ),
  'Accept-Encoding': text('The supported Content-Encoding, if that of the request was rejected.', 'identity'),
  Allow: text('With 405: the supported methods.', 'DELETE'),
  ETag: text('Identifies the lock, for If-Match.', '"lock_1"'),
  Location: text('URL of the new resource, or of its status.', '/v1/workspaces/game/locks/Content%2FHero.uasset'),
  'Idempotency-Replayed': text(
    'The request was carried out before with the same Idempotency-Key. This is the original response.',
    'true',
  ),
  Link: text(
    'The next page, if there is one (RFC 8288).',
    '</v1/workspaces/game/locks?limit=100&cursor=YQ>; rel="next"',
  ),
  'Preference-Applied': text('The request waited until the path was free, or for this many seconds.', 'wait=30'),
  Vary: text('Set if Prefer affects the response.', 'Prefer'),
} as const;

type HeaderName = keyof typeof responseHeaders;

type ResponseHeader = (typeof responseHeaders)[HeaderName] & { readonly required: boolean };

type ResponseHeaders = Readonly<Partial<Record<HeaderName, ResponseHeader | { readonly $ref: string }>>>;

const selectHeaders =
  (required: boolean) =>
  (...names: readonly HeaderName[]): ResponseHeaders =>
    Object.fromEntries(names.map((name): [string, ResponseHeader] => [name, { ...responseHeaders[name], required }]));

/** Present in every response with the status. */
export const requiredHeaders = selectHeaders(true);

/** Present in some responses: the description says when. */
export const optionalHeaders = selectHeaders(false);

const baseHeaders = requiredHeaders('X-Request-Id', 'Cache-Control', 'X-Content-Type-Options');
const rateLimitHeaders = optionalHeaders('RateLimit', 'RateLimit-Policy');

/** Defined once in the document and referenced, because most responses have them. */
export const commonHeaders = Object.entries({ ...baseHeaders, ...rateLimitHeaders });

export type Api = OpenAPIHono<Environment>;

interface DescribedResponse {
  readonly description: string;
  /** In addition to those of every response. */
  readonly headers?: ResponseHeaders;
  readonly content?: Readonly<Record<string, { readonly schema: z.ZodType }>>;
}

type Responses = Readonly<Record<string, DescribedResponse>>;

interface Operation<Body, Query, More = unknown> {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly method: 'get' | 'put' | 'post' | 'delete';
  /** With parameters in braces, as in OpenAPI. */
  readonly path: `/${string}`;
  readonly access: Access;
  readonly charge?: Charge;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodType<Query> & z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType<Body>;
  /** Default: 1 MiB. */
  readonly maxBodyBytes?: number;
  /** A body that the operation reads itself, by media type. */
  readonly ownBody?: Readonly<Record<string, { readonly schema: z.ZodObject }>>;
  readonly responses: Responses;
  /** Problems that do not follow from the other properties: headers by status. */
  readonly refusals?: Readonly<Record<number, ResponseHeaders>>;
  handle(call: Call<Body, Query> & More): Promise<ApiResponse>;
}

interface Call<Body, Query> {
  readonly c: Context<Environment>;
  readonly body: Body;
  readonly query: Query;
}

/**
 * Adds an endpoint, with a required access rule. The schemas that validate it also describe it in the OpenAPI document.
 * Order of the checks: token, scope, body, query, handler.
 */
export function addOperation<Body, Query>(api: Api, control: AccessControl, operation: Operation<Body, Query>): void {
  describe(api, operation);
  const path = operation.path.replaceAll(/\{(.+?)\}/g, ':$1');
  const method = operation.method.toUpperCase();
  const queryNames = Object.keys(operation.query?.shape ?? {});
  if (operation.access !== 'anyone') {
    api.on(method, path, requireAccess(control, operation.access, operation.charge));
  }
  if (operation.body !== undefined) api.on(method, path, readJsonBody(operation.maxBodyBytes));
  api.on(method, path, async (c) => {
    const body = parseRequestPart(operation.body, () => c.get('body'));
    const target = c.env.incoming.url ?? '';
    // Public endpoints allow unknown parameters, because monitoring tools may add their own.
    if (operation.access !== 'anyone' && path.startsWith('/v1/')) refuseUnknownParameters(target, queryNames);
    const query = parseRequestPart(operation.query, () => readQuery(target, queryNames));
    return send(c, await operation.handle({ c, body, query }));
  });
}

/** An operation on the workspace in its path. The response for one that the token may not see is 404. */
export function addWorkspaceOperation<Body, Query>(
  api: Api,
  control: AccessControl,
  { handle, ...operation }: Operation<Body, Query, { readonly workspace: FoundWorkspace }>,
): void {
  addOperation<Body, Query>(api, control, {
    params: workspaceParameter,
    ...operation,
    handle: async (call) => handle({ ...call, workspace: await requestedWorkspace(call.c, control.storage) }),
  });
}

export const jsonResponse = (description: string, schema: z.ZodType, headers: ResponseHeaders = {}) => ({
  description,
  headers,
  content: { 'application/json': { schema } },
});

function describe(api: Api, operation: Operation<unknown, unknown>): void {
  const { operationId, summary, description, method, path, access, params, query, headers, body } = operation;
  const content = body ? { 'application/json': { schema: body } } : operation.ownBody;
  const responses = Object.entries({ ...operation.responses, ...refusalsOf(operation) }).map(([status, response]) => {
    // In a 401 too: a token may be revoked while its request waits.
    const common = Object.keys({ ...baseHeaders, ...(access !== 'anyone' && rateLimitHeaders) });
    const references = Object.fromEntries(common.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
    const replayed = isKeyed(operation) && status.startsWith('2') && optionalHeaders('Idempotency-Replayed');
    return [status, { ...response, headers: { ...references, ...replayed, ...response.headers } }];
  });
  api.openAPIRegistry.registerPath({
    operationId,
    summary,
    ...(description !== undefined && { description }),
    method,
    path,
    security: access === 'anyone' ? [] : [{ token: access === 'any-token' ? [] : [access] }],
    request: {
      ...(params && { params }),
      ...(query && { query }),
      ...(headers && { headers }),
      ...(content && { body: { required: true, content } }),
    },
    responses: Object.fromEntries(responses),
  });
}

const refusalDescriptions: Readonly<Record<number, string>> = {
  400: 'Malformed request.',
  401: 'A valid API token is required.',
  403: 'The token is not allowed to do this.',
  404: 'Not found, or not visible to the token.',
  409: 'In conflict with the current state.',
  412: 'The condition does not hold.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  422: 'Invalid request.',
  429: 'Too many requests with this token. Retry-After says when to try again.',
  503: 'Service unavailable: its database does not answer, or its disk is full. Try again in a moment.',
};

function refusalsOf(operation: Operation<unknown, unknown>): Responses {
  const { access, params, body, query, refusals } = operation;
  const [challenge, retryAfter] = [requiredHeaders('WWW-Authenticate'), requiredHeaders('Retry-After')];
  const headersByStatus: Readonly<Record<number, ResponseHeaders>> = {
    ...(access !== 'anyone' && { 401: challenge, 429: retryAfter, 503: retryAfter }),
    ...(access !== 'anyone' && access !== 'any-token' && { 403: challenge }),
    ...(params && { 404: {} }),
    ...(body && { 400: {}, 413: {}, 415: optionalHeaders('Accept-Encoding'), 422: {} }),
    ...(query && { 422: {} }),
    ...(isKeyed(operation) && { 409: retryAfter }),
    ...refusals,
  };
  const expected = Object.entries(headersByStatus).map(([status, headers]) => [
    status,
    problemResponse(refusalDescriptions[Number(status)] ?? 'Failed.', headers),
  ]);
  return { ...Object.fromEntries(expected), default: problemResponse('Any other problem.', optionalHeaders('Allow')) };
}

const isKeyed = ({ headers }: Operation<unknown, unknown>): boolean => 'Idempotency-Key' in (headers?.shape ?? {});

const problemResponse = (description: string, headers: ResponseHeaders = {}) => ({
  description,
  headers,
  content: { [problemMediaType]: { schema: problemSchema } },
});
