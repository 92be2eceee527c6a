import type { Context } from 'hono';
import type { Scope } from '../../interface/scopes.ts';
import { type AccessControl, type Charge, requireAccess } from '../access/access.ts';
import { requestedWorkspace } from '../access/caller.ts';
import type { ApiResponse } from '../contract/response.ts';
import { readOptionalJsonBody } from '../http/body.ts';
import { type App, type Environment, send } from '../http/context.ts';
import type { FoundWorkspace } from '../workspaces/workspaces.ts';

export const basePath = '/v1/workspaces/:id/lfs';

interface Route {
  readonly method: 'GET' | 'POST';
  /** Relative to `basePath`. */
  readonly path: `/${string}`;
  readonly access: 'any-token' | Scope;
  readonly charge?: Charge;
  readonly hasBody?: true;
  handle(c: Context<Environment>, workspace: FoundWorkspace): Promise<ApiResponse>;
}

export function addRoute(app: App, control: AccessControl, route: Route): void {
  const { method, access, charge, hasBody, handle } = route;
  const path = basePath + route.path;
  app.on(method, path, requireAccess(control, access, charge));
  if (hasBody) app.on(method, path, readOptionalJsonBody);
  app.on(method, path, async (c) => send(c, await handle(c, await requestedWorkspace(c, control.storage))));
}
