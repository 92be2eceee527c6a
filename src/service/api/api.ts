import { OpenAPIHono } from '@hono/zod-openapi';
import { refuseOtherMethods } from '../http/app.ts';
import type { Environment } from '../http/context.ts';
import { addCheckRoute } from './check.ts';
import { addHealthRoutes } from './health.ts';
import { addHookRoutes } from './hooks.ts';
import { addLeaseRoutes } from './leases.ts';
import { addLockListRoute } from './lock-list.ts';
import { addLockRoutes } from './locks.ts';
import { type Api, commonHeaders } from './operation.ts';
import type { ApiParts } from './parts.ts';
import { addPoolRoutes } from './pools.ts';
import { addPushRoute } from './push.ts';
import { addQueueRoutes } from './queue.ts';
import { addSyncRoutes } from './syncs.ts';
import { addTokenRoute } from './token.ts';
import { addTokenExchangeRoute } from './token-exchange.ts';
import { addWorkspaceRoutes } from './workspaces.ts';

/** The operations of the API. The schemas that validate them also describe them in the OpenAPI document. */
export function createApi(parts: ApiParts): Api {
  const api: Api = new OpenAPIHono<Environment>();
  api.openAPIRegistry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API token with the scope that the operation names.',
  });
  for (const [name, header] of commonHeaders) api.openAPIRegistry.registerComponent('headers', name, header);
  for (const addRoutes of allRoutes) addRoutes(api, parts);
  refuseOtherMethods(api);
  return api;
}

const allRoutes = [
  addWorkspaceRoutes,
  addTokenRoute,
  addTokenExchangeRoute,
  addSyncRoutes,
  addPushRoute,
  addLockListRoute,
  addLockRoutes,
  addLeaseRoutes,
  addCheckRoute,
  addQueueRoutes,
  addPoolRoutes,
  addHookRoutes,
  addHealthRoutes,
];
