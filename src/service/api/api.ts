import { OpenAPIHono, z } from '@hono/zod-openapi';
import { packageVersion } from '../../built/version.ts';
import { bearerOf } from '../access/caller.ts';
import { type ApiResponse, jsonApiResponse, unavailable } from '../contract/response.ts';
import type { Environment } from '../http/context.ts';
import { type Bearer, maySee } from '../tokens/tokens.ts';
import { addHookRoutes } from './hooks.ts';
import { addLeaseRoutes } from './leases.ts';
import { addLockListRoute } from './lock-list.ts';
import { addLockRoutes } from './locks.ts';
import { type Api, type ApiParts, addOperation, jsonResponse } from './operation.ts';
import { addPushRoute } from './push.ts';
import { addQueueRoutes } from './queue.ts';
import { addSyncRoutes } from './syncs.ts';
import { addTokenRoutes } from './tokens.ts';
import { addWorkspaceRoutes } from './workspaces.ts';

/** The operations of the API. The schemas that validate them also describe them in the OpenAPI document. */
export function createApi(parts: ApiParts): Api {
  const api: Api = new OpenAPIHono<Environment>();
  api.openAPIRegistry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API token with the scope that the operation requires.',
  });
  for (const addRoutes of allRoutes) addRoutes(api, parts);
  return api;
}

const allRoutes = [
  addWorkspaceRoutes,
  addTokenRoutes,
  addSyncRoutes,
  addPushRoute,
  addLockListRoute,
  addLockRoutes,
  addLeaseRoutes,
  addQueueRoutes,
  addHookRoutes,
  addHealthRoutes,
];

const statusSchema = z.object({ status: z.literal('ok') }).openapi('Health');

function addHealthRoutes(api: Api, parts: ApiParts): void {
  const { storage, metrics, isStopping } = parts;
  const info = {
    title: 'Workspace service',
    version: packageVersion,
    description: 'Syncs, locks and build webhooks of workspaces of large binary assets.',
    license: { name: 'MIT' },
  };
  let document: ApiResponse | undefined;

  addOperation(api, parts, {
    operationId: 'health',
    summary: 'Liveness probe',
    method: 'get',
    path: '/healthz',
    access: 'anyone',
    responses: { 200: jsonResponse('The process is running.', statusSchema) },
    handle: async () => jsonApiResponse(200, { status: 'ok' }),
  });

  addOperation(api, parts, {
    operationId: 'readiness',
    summary: 'Whether requests can be served: the database answers and the service is not stopping',
    method: 'get',
    path: '/readyz',
    access: 'anyone',
    responses: { 200: jsonResponse('The service is ready.', statusSchema) },
    async handle() {
      if (isStopping()) throw unavailable('The service is stopping.');
      await storage.check();
      return jsonApiResponse(200, { status: 'ok' });
    },
  });

  addOperation(api, parts, {
    operationId: 'metrics',
    summary: 'Metrics for Prometheus',
    method: 'get',
    path: '/metrics',
    access: 'any-token',
    responses: { 200: { description: 'The metrics.', content: { 'text/plain': { schema: z.string() } } } },
    handle: async ({ c }): Promise<ApiResponse> => ({
      status: 200,
      headers: { 'content-type': metrics.registry.contentType },
      body: visibleMetrics(await metrics.registry.metrics(), bearerOf(c)),
    }),
  });

  addOperation(api, parts, {
    operationId: 'openapi',
    summary: 'This document',
    method: 'get',
    path: '/v1/openapi.json',
    access: 'anyone',
    responses: { 200: jsonResponse('The document.', z.object({ openapi: z.string() }).loose()) },
    async handle() {
      document ??= jsonApiResponse(200, api.getOpenAPI31Document({ openapi: '3.1.0', info, servers: [{ url: '/' }] }));
      return document;
    },
  });
}

/** Omits the series of workspaces that the token may not see. Workspace ids need no escaping in labels. */
const visibleMetrics = (text: string, bearer: Bearer): string =>
  text
    .split('\n')
    .filter((line) => {
      const [, workspace] = /^\w+\{workspace="([^"]*)"/.exec(line) ?? [];
      return workspace === undefined || maySee(bearer, workspace);
    })
    .join('\n');
