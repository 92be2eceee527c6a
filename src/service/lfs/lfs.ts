import { Hono } from 'hono';
import { byBearerOrPassword } from '../access/access.ts';
import type { App } from '../http/context.ts';
import { addLfsLockRoutes, type LfsLockRoutes } from './locks.ts';
import { addObjectRoutes, type ObjectRoutes } from './objects.ts';

export type LfsParts = LfsLockRoutes & ObjectRoutes;

/**
 * A Git LFS endpoint for each workspace: Git LFS users lock with their own tools, and their locks also apply to jobs.
 * Separate from the API because its clients do not read problem details: see responses.ts for the format of its errors.
 */
export function createLfs(parts: LfsParts): App {
  const app: App = new Hono();
  const routes: LfsParts = { ...parts, authScheme: byBearerOrPassword };
  addLfsLockRoutes(app, routes);
  addObjectRoutes(app, routes);
  return app;
}
