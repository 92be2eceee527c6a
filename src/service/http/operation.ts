import type { OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { problemMediaType } from '../../interface/problem.ts';
import type { Actor } from '../audit/audit.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { type Access, type AccessControl, requireAccess, requireReleaseAccess } from './access.ts';
import { readJsonBody } from './body.ts';
import { addressOf } from './client-address.ts';
import type { Environment } from './environment.ts';
import type { Answer } from './problem-answer.ts';
import { readQuery } from './query.ts';
import { always, commonHeadersOf, type ResponseHeaders, sometimes } from './response-headers.ts';
import { problemSchema } from './schemas.ts';
import { parseRequestPart } from './validate.ts';

export type App = OpenAPIHono<Environment>;

interface DescribedResponse {
  readonly description: string;
  /** Of its own, besides those that every answer has. */
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
  /** The problems it can end with, by status, besides those that its shape tells; with what headers these have of their own. */
  readonly refusals?: Readonly<Record<number, ResponseHeaders>>;
}

interface OpenOperation<Body, Query> extends Shape<Body, Query> {
  readonly access: 'anyone';
}

interface GuardedOperation<Body, Query> extends Shape<Body, Query> {
  readonly access: Exclude<Access, 'anyone'>;
  /** It counts against the rate limit unless it releases a lock of the token's own. */
  readonly ownReleaseIsFree?: true;
}

export interface Call<Body, Query> {
  readonly c: Context<Environment>;
  readonly body: Body;
  readonly query: Query;
}

const refusalDescriptions: Readonly<Record<number, string>> = {
  400: 'The request cannot be read.',
  401: 'A valid API token is needed.',
  403: 'The token may not do this.',
  404: 'There is nothing here, or nothing that the token can see.',
  409: 'Something stands in the way.',
  412: 'The condition does not hold.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  422: 'The request is not valid.',
  429: 'Too many requests with this token: Retry-After says when there may be another.',
  503: 'The service cannot do this now: its database does not answer, or its disk is full. Ask again in a moment.',
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
    problemResponse(refusalDescriptions[Number(status)] ?? 'It went wrong.', headers),
  ]);
  return {
    ...Object.fromEntries(expected),
    default: problemResponse('What can go wrong with any request.', sometimes('Allow')),
  };
}

/** Without a valid token there is nobody whose requests are counted. */
function withCommonHeaders(responses: Responses, access: Access): Responses {
  const described = Object.entries(responses).map(([status, response]) => {
    const common = commonHeadersOf({ toAToken: access !== 'anyone' && status !== '401' });
    const headers = { ...common, ...response.headers };
    return [status, { ...response, headers }];
  });
  return Object.fromEntries(described);
}

function describe(app: App, operation: Shape<unknown, unknown> & { access: Access }): void {
  const { operationId, summary, description, method, path, access, params, query, headers, body, responses } =
    operation;
  app.openAPIRegistry.registerPath({
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

/** Sends what a rule answered, with the headers that every answer to this request gets. */
export function send(c: Context<Environment>, { status, headers, body }: Answer): Response {
  return new Response(body === '' ? null : body, {
    status,
    headers: {
      ...(body !== '' && { 'content-type': 'application/json' }),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...c.get('answerHeaders'),
      ...headers,
      'x-request-id': c.get('requestId'),
    },
  });
}

/**
 * An endpoint: described in the OpenAPI document by the schemas that validate it, and with an access rule that cannot
 * be left out. What comes first decides: the token, its scope, the body, the query, the rule.
 */
export function addOperation<Body, Query>(
  app: App,
  control: AccessControl,
  operation: OpenOperation<Body, Query> | GuardedOperation<Body, Query>,
  handle: (call: Call<Body, Query>) => Promise<Answer>,
): void {
  describe(app, operation);
  const path = operation.path.replaceAll(/\{(.+?)\}/g, ':$1');
  const method = operation.method.toUpperCase();
  const queryNames = Object.keys(operation.query?.shape ?? {});
  if (operation.access !== 'anyone') {
    const guard = operation.ownReleaseIsFree ? requireReleaseAccess : requireAccess;
    app.on(method, path, guard(control, operation.access));
  }
  if (operation.body !== undefined) app.on(method, path, readJsonBody);
  app.on(method, path, async (c) => {
    const body = parseRequestPart(operation.body, () => c.get('body'));
    const query = parseRequestPart(operation.query, () => readQuery(c.env.incoming.url ?? '', queryNames));
    return send(c, await handle({ c, body, query }));
  });
}

/** The token of a request to a guarded operation. */
export const bearerOf = (c: Context<Environment>): Bearer => c.get('bearer');

/** Who asks, for the audit. */
export const actorOf = (c: Context<Environment>): Actor => ({
  name: bearerOf(c).name,
  tokenId: bearerOf(c).id,
  address: addressOf(c),
});

export const jsonAnswer = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers,
  body: JSON.stringify(body),
});

export const emptyAnswer = (status: number): Answer => ({ status, headers: {}, body: '' });

export const jsonResponse = (description: string, schema: z.ZodType, headers: ResponseHeaders = {}) => ({
  description,
  headers,
  content: { 'application/json': { schema } },
});
