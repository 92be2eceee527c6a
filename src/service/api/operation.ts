import { type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { problemMediaType } from '../../interface/problem.ts';
import { type Access, type AccessControl, requireAccess } from '../access/access.ts';
import { requestedWorkspace } from '../access/caller.ts';
import { type ApiResponse, parseRequestPart } from '../contract/response.ts';
import { problemSchema } from '../contract/schemas.ts';
import { readJson } from '../http/body.ts';
import { type Environment, send } from '../http/context.ts';
import { readQuery } from '../http/request-target.ts';
import { type Idempotent, keyPattern, maxKeyLength } from '../idempotency/idempotency.ts';
import type { Instance } from '../instance/instance.ts';
import type { Compare } from '../latest/compare.ts';
import type { Locks } from '../locks/locks.ts';
import type { PrepareSync } from '../syncs/trigger.ts';
import type { ExchangeToken } from '../trust/exchange.ts';
import type { Remotes } from '../workspaces/remotes.ts';
import { maxWorkspaceIdLength, workspaceIdPattern } from '../workspaces/workspace-id.ts';
import type { FoundWorkspace } from '../workspaces/workspaces.ts';

export interface ApiParts extends AccessControl, Pick<Instance, 'targets' | 'metrics'> {
  readonly idempotent: Idempotent;
  readonly locks: Locks;
  readonly compare: Compare;
  readonly prepareSync: PrepareSync;
  readonly remotes: Remotes;
  readonly exchangeToken: ExchangeToken;
  readonly isStopping: () => boolean;
  /** The public origin of the service; undefined if unknown. */
  readonly publicUrl: () => string | undefined;
}

export type Api = OpenAPIHono<Environment>;

interface DescribedResponse {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: z.ZodType }>>;
}

interface Operation<Body, Query, More = unknown> {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly method: 'get' | 'put' | 'post' | 'delete';
  /** Parameters are in braces, as in OpenAPI. */
  readonly path: `/${string}`;
  readonly access: Access;
  readonly charge?: 'never';
  readonly params?: z.ZodObject;
  readonly query?: z.ZodType<Query> & z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType<Body>;
  /** Default: 1 MiB. */
  readonly maxBodyBytes?: number;
  /** A body that the operation reads itself, by media type. */
  readonly ownBody?: Readonly<Record<string, { readonly schema: z.ZodObject }>>;
  readonly responses: Readonly<Record<string, DescribedResponse>>;
  handle(call: Call<Body, Query> & More): Promise<ApiResponse>;
}

interface Call<Body, Query> {
  readonly c: Context<Environment>;
  readonly body: Body;
  readonly query: Query;
}

/**
 * Adds an endpoint. The schemas that validate its requests also describe it in the OpenAPI document.
 * The checks run in this order: token, scope, body, query. Then the handler runs.
 */
export function addOperation<Body, Query>(api: Api, control: AccessControl, operation: Operation<Body, Query>): void {
  describe(api, operation);
  const path = operation.path.replaceAll(/\{(.+?)\}/g, ':$1');
  const method = operation.method.toUpperCase();
  const queryNames = Object.keys(operation.query?.shape ?? {});
  // Monitoring tools may add their own parameters to public endpoints.
  const otherParameters = operation.access !== 'anyone' && path.startsWith('/v1/') ? 'refused' : 'ignored';
  if (operation.access !== 'anyone') {
    api.on(method, path, requireAccess(control, operation.access, operation.charge));
  }
  api.on(method, path, async (c) => {
    const body = parseRequestPart(operation.body, operation.body && (await readJson(c, operation.maxBodyBytes)));
    const query = parseRequestPart(operation.query, readQuery(c.env.incoming.url ?? '', queryNames, otherParameters));
    return send(c, await operation.handle({ c, body, query }));
  });
}

/** An operation on the workspace in its path: 404 if the token may not see that workspace. */
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
    responses: { ...operation.responses, default: anyProblem },
  });
}

const anyProblem: DescribedResponse = {
  description: 'A problem (RFC 9457).',
  content: { [problemMediaType]: { schema: problemSchema } },
};

export const workspaceParameter = z.object({
  id: z.string().openapi({
    param: { name: 'id', in: 'path' },
    minLength: 1,
    maxLength: maxWorkspaceIdLength,
    pattern: workspaceIdPattern.source,
    description: 'The id of the workspace. Invalid ids get a 404, like workspaces that the token cannot see.',
    example: 'game',
  }),
});

export const keyHeader = z.object({
  'Idempotency-Key': z.string().optional().openapi({
    minLength: 1,
    maxLength: maxKeyLength,
    pattern: keyPattern.source,
    description:
      'Any visible ASCII characters, new for each request. A request that is repeated with the same key takes effect once. Keys are separate for each token and workspace.',
  }),
});
