import { Hono } from 'hono';
import { byBearerOrPassword } from '../http/access.ts';
import { refuseOtherMethods, unknownAddress } from '../http/app.ts';
import type { App, Environment } from '../http/context.ts';
import { addLfsLockRoutes, type LfsLockRoutes } from './locks.ts';
import { addObjectRoutes, type ObjectRoutes } from './objects.ts';
import { address } from './route.ts';

export type LfsParts = LfsLockRoutes & ObjectRoutes;

/**
 * A Git LFS endpoint for each workspace: people lock with the tools that they have, and what they lock is locked for jobs.
 * An app of its own, because its clients read no problem details: see answers.ts for the form of its errors.
 */
export function createLfs(parts: LfsParts): App {
  const app: App = new Hono<Environment>();
  const routes = { ...parts, signIn: byBearerOrPassword };
  addLfsLockRoutes(app, routes);
  addObjectRoutes(app, routes);
  refuseOtherMethods(app);
  for (const path of [address, `${address}/*`]) {
    app.all(path, (c) => {
      throw unknownAddress(c);
    });
  }
  return app;
}
