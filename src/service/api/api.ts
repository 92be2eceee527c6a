import { OpenAPIHono } from '@hono/zod-openapi';
import { refuseOtherMethods } from '../http/app.ts';
import type { Environment } from '../http/context.ts';
import { addCheckRoute, type CheckRoute } from './check.ts';
import { addHealthRoutes, type HealthRoutes } from './health.ts';
import { addHookRoutes, type HookRoutes } from './hooks.ts';
import { addLockListRoute, type LockListRoute } from './lock-list.ts';
import { addLockRoutes, type LockRoutes } from './locks.ts';
import { type Api, commonHeaders } from './operation.ts';
import { addPoolRoutes, type PoolRoutes } from './pools.ts';
import { addPushRoute } from './push.ts';
import { addQueueRoutes, type QueueRoutes } from './queue.ts';
import { addSyncRoutes, type SyncRoutes } from './syncs.ts';
import { addTokenRoute } from './token.ts';
import { addTokenExchangeRoute, type TokenExchangeRoute } from './token-exchange.ts';
import { addWorkspaceRoutes, type WorkspaceRoutes } from './workspaces.ts';

export type ApiParts = HealthRoutes &
  LockRoutes &
  LockListRoute &
  CheckRoute &
  QueueRoutes &
  PoolRoutes &
  HookRoutes &
  SyncRoutes &
  WorkspaceRoutes &
  TokenExchangeRoute;

/** The operations of the API. The schemas that validate them also describe them in the OpenAPI document. */
export function createApi(parts: ApiParts): Api {
  const api: Api = new OpenAPIHono<Environment>();
  api.openAPIRegistry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API token with the scope that the operation names.',
  });
  for (const [name, header] of commonHeaders) api.openAPIRegistry.registerComponent('headers', name, header);
  addWorkspaceRoutes(api, parts);
  addTokenRoute(api, parts);
  addTokenExchangeRoute(api, parts);
  addSyncRoutes(api, parts);
  addPushRoute(api, parts);
  addLockListRoute(api, parts);
  addLockRoutes(api, parts);
  addCheckRoute(api, parts);
  addQueueRoutes(api, parts);
  addPoolRoutes(api, parts);
  addHookRoutes(api, parts);
  addHealthRoutes(api, parts);
  refuseOtherMethods(api);
  return api;
}
