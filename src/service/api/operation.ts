import { type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { problemMediaType } from '../../interface/problem.ts';
import { type Access, type AccessControl, type Charge, requireAccess } from '../access/access.ts';
import { requestedWorkspace } from '../access/caller.ts';
import { parseRequestPart } from '../contract/problem.ts';
import type { ApiResponse } from '../contract/response.ts';
import { problemSchema } from '../contract/schemas.ts';
import { readJsonBody } from '../http/body.ts';
import { type Environment, send } from '../http/context.ts';
import { readQuery, refuseUnknownParameters } from '../http/request-target.ts';
import { type Idempotent, keyPattern, maxKeyLength } from '../idempotency/idempotency.ts';
import type { Compare } from '../latest/compare.ts';
import type { Locks } from '../locks/locks.ts';
import type { TargetCheck } from '../outbound/target.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { PrepareSync } from '../syncs/trigger.ts';
import type { ExchangeToken } from '../trust/exchange.ts';
import type { RemoteMemory } from '../workspaces/remotes.ts';
import { maxWorkspaceIdLength, workspaceIdPattern } from '../workspaces/workspace-id.ts';
import type { FoundWorkspace } from '../workspaces/workspaces.ts';

export interface ApiParts extends AccessControl {
  readonly idempotent: Idempotent;
  readonly locks: Locks;
  readonly compare: Compare;
  readonly prepareSync: PrepareSync;
  readonly targets: TargetCheck;
  readonly remoteMemory: RemoteMemory;
  readonly exchangeToken: ExchangeToken;
  readonly metrics: Metrics;
  readonly isStopping: () => boolean;
  readonly version: string;
  /** The public origin of the service; undefined if unknown. */
  readonly publicUrl: () => string | undefined;
}

export type Api = OpenAPIHono<Environment>;

interface DescribedResponse {
  readonly description: string;
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
  /** Statuses of problems that do not follow from the other properties. */
  readonly refusals?: readonly number[];
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

export const jsonResponse = (description: string, schema: z.ZodType): DescribedResponse => ({
  description,
  content: { 'application/json': { schema } },
});

function describe(api: Api, operation: Operation<unknown, unknown>): void {
  const { operationId, summary, description, method, path, access, params, query, headers, body } = operation;
  const content = body ? { 'application/json': { schema: body } } : operation.ownBody;
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
    responses: { ...operation.responses, ...refusalsOf(operation) },
  });
}

const problemResponse = (description: string): DescribedResponse => ({
  description,
  content: { [problemMediaType]: { schema: problemSchema } },
});

const problemResponses: Readonly<Record<number, DescribedResponse>> = {
  400: problemResponse('Malformed request.'),
  401: problemResponse('A valid API token is required.'),
  403: problemResponse('The token is not allowed to do this.'),
  404: problemResponse('Not found, or not visible to the token.'),
  409: problemResponse('In conflict with the current state.'),
  410: problemResponse('It has ended.'),
  412: problemResponse('The condition does not hold.'),
  413: problemResponse('The body is too large.'),
  415: problemResponse('The body is not JSON.'),
  422: problemResponse('Invalid request.'),
  429: problemResponse('Too many requests with this token. Retry-After says when to try again.'),
  503: problemResponse(
    'Service unavailable: its database does not answer, or its disk is full. Try again in a moment.',
  ),
};

function refusalsOf(operation: Operation<unknown, unknown>): Responses {
  const { access, params, body, query, refusals = [] } = operation;
  const statuses = [
    ...(access === 'anyone' ? [] : [401, 429, 503]),
    ...(access === 'anyone' || access === 'any-token' ? [] : [403]),
    ...(params ? [404] : []),
    ...(body ? [400, 413, 415, 422] : []),
    ...(query ? [422] : []),
    ...(isKeyed(operation) ? [409] : []),
    ...refusals,
  ];
  return {
    ...Object.fromEntries(statuses.map((status) => [status, problemResponses[status]])),
    default: problemResponse('Any other problem.'),
  };
}

const isKeyed = ({ headers }: Operation<unknown, unknown>): boolean => 'Idempotency-Key' in (headers?.shape ?? {});

export const workspaceParameter = z.object({
  id: z.string().openapi({
    param: { name: 'id', in: 'path' },
    minLength: 1,
    maxLength: maxWorkspaceIdLength,
    pattern: workspaceIdPattern.source,
    description: 'The id of the workspace. Invalid ids get 404, like workspaces that the token cannot see.',
    example: 'game',
  }),
});

export const keyHeader = z.object({
  'Idempotency-Key': z.string().optional().openapi({
    minLength: 1,
    maxLength: maxKeyLength,
    pattern: keyPattern.source,
    description:
      'Any visible ASCII characters, new for each request. A request sent again with the same key is carried out once. Keys belong to a token, and are separate in each workspace.',
  }),
});
