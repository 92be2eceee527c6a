import type { OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { problemMediaType } from '../../interface/problem.ts';
import type { Answer } from '../contract/answer.ts';
import { problemSchema } from '../contract/schemas.ts';
import { parseRequestPart } from '../contract/validate.ts';
import { type Access, type AccessControl, requireAccess, requireReleaseAccess } from '../http/access.ts';
import { readJsonBody } from '../http/body.ts';
import { type Environment, send } from '../http/context.ts';
import { readQuery } from '../http/urlencoded.ts';
import { always, commonHeadersOf, type ResponseHeaders, sometimes } from './response-headers.ts';

export type Api = OpenAPIHono<Environment>;

interface DescribedResponse {
  readonly description: string;
  /** In addition to those of every answer. */
  readonly headers?: ResponseHeaders;
  readonly content?: Readonly<Record<string, { readonly schema: z.ZodType }>>;
}

type Responses = Readonly<Record<string, DescribedResponse>>;

interface Shape<Body, Query> {
  readonly operationId: string;
  readonly summary: string;
  /** Where the summary is not enough. */
  readonly description?: string;
  readonly method: 'get' | 'post' | 'delete';
  /** With parameters in braces, as OpenAPI writes them. */
  readonly path: `/${string}`;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodType<Query> & z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType<Body>;
  readonly responses: Responses;
  /** Problems beyond those that follow from the shape, by status, with their own headers. */
  readonly refusals?: Readonly<Record<number, ResponseHeaders>>;
}

interface OpenOperation<Body, Query> extends Shape<Body, Query> {
  readonly access: 'anyone';
}

interface GuardedOperation<Body, Query> extends Shape<Body, Query> {
  readonly access: Exclude<Access, 'anyone'>;
  /** Counts against the rate limit unless it releases a lock of the same token. */
  readonly ownReleaseIsFree?: true;
}

export interface Call<Body, Query> {
  readonly c: Context<Environment>;
  readonly body: Body;
  readonly query: Query;
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

const problemResponse = (description: string, headers: ResponseHeaders = {}) => ({
  description,
  headers,
  content: { [problemMediaType]: { schema: problemSchema } },
});

function refusalsOf({ access, body, query, refusals }: Shape<unknown, unknown> & { access: Access }): Responses {
  const headersByStatus: Readonly<Record<number, ResponseHeaders>> = {
    ...(access !== 'anyone' && { 401: always('WWW-Authenticate'), 429: always('Retry-After') }),
    ...(access !== 'anyone' && { 503: always('Retry-After') }),
    ...(access !== 'anyone' && access !== 'any-token' && { 403: always('WWW-Authenticate') }),
    ...(body && { 400: {}, 413: {}, 415: sometimes('Accept-Encoding'), 422: {} }),
    ...(query && { 422: {} }),
    ...refusals,
  };
  const expected = Object.entries(headersByStatus).map(([status, headers]) => [
    status,
    problemResponse(refusalDescriptions[Number(status)] ?? 'Failed.', headers),
  ]);
  return {
    ...Object.fromEntries(expected),
    default: problemResponse('Any other problem.', sometimes('Allow')),
  };
}

/** Rate limits apply to valid tokens only. */
function withCommonHeaders(responses: Responses, access: Access): Responses {
  const described = Object.entries(responses).map(([status, response]) => {
    const common = commonHeadersOf({ toAToken: access !== 'anyone' && status !== '401' });
    const headers = { ...common, ...response.headers };
    return [status, { ...response, headers }];
  });
  return Object.fromEntries(described);
}

function describe(api: Api, operation: Shape<unknown, unknown> & { access: Access }): void {
  const { operationId, summary, description, method, path, access, params, query, headers, body, responses } =
    operation;
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
      ...(body && { body: { required: true, content: { 'application/json': { schema: body } } } }),
    },
    responses: withCommonHeaders({ ...responses, ...refusalsOf(operation) }, access),
  });
}

/**
 * An endpoint, described in the OpenAPI document by the schemas that validate it, with an access rule that cannot be left
 * out. Checked in this order: token, scope, body, query, rule.
 */
export function addOperation<Body, Query>(
  api: Api,
  control: AccessControl,
  operation: OpenOperation<Body, Query> | GuardedOperation<Body, Query>,
  handle: (call: Call<Body, Query>) => Promise<Answer>,
): void {
  describe(api, operation);
  const path = operation.path.replaceAll(/\{(.+?)\}/g, ':$1');
  const method = operation.method.toUpperCase();
  const queryNames = Object.keys(operation.query?.shape ?? {});
  if (operation.access !== 'anyone') {
    const guard = operation.ownReleaseIsFree ? requireReleaseAccess : requireAccess;
    api.on(method, path, guard(control, operation.access));
  }
  if (operation.body !== undefined) api.on(method, path, readJsonBody);
  api.on(method, path, async (c) => {
    const body = parseRequestPart(operation.body, () => c.get('body'));
    const query = parseRequestPart(operation.query, () => readQuery(c.env.incoming.url ?? '', queryNames));
    return send(c, await handle({ c, body, query }));
  });
}

export const jsonResponse = (description: string, schema: z.ZodType, headers: ResponseHeaders = {}) => ({
  description,
  headers,
  content: { 'application/json': { schema } },
});
