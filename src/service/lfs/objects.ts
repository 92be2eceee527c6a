import { Refusal } from '../contract/problem.ts';
import type { AccessControl } from '../http/access.ts';
import { type App, addressedWorkspace } from '../http/context.ts';
import { lfsEndpoint } from '../workspaces/lfs-endpoint.ts';
import { lfsAnswer } from './answers.ts';
import { addRoute } from './route.ts';

/** The service keeps no objects: clients are sent to the store that the repository has, and sign in there by themselves. */
export function addObjectRoutes(app: App, routes: AccessControl): void {
  addRoute(app, routes, {
    method: 'POST',
    path: '/objects/batch',
    access: 'any-token',
    async handle(c) {
      const workspace = await addressedWorkspace(c, routes.storage);
      const store = lfsEndpoint(workspace);
      if (store === undefined) {
        throw new Refusal(
          'invalid-request',
          `It is not known where the LFS objects of ${workspace.id} are: its remote is not reached by http(s). Ask the operator to name their address: workspace-service workspace update ${workspace.id} --lfs-url https://…`,
        );
      }
      // RFC 9110 section 15.4.8: the same request, with its body, at another address.
      const answer = lfsAnswer(307, { message: `The LFS objects of ${workspace.id} are at ${store}.` });
      return { ...answer, headers: { ...answer.headers, location: `${store}/objects/batch` } };
    },
  });
}
