import { jsonApiResponse } from '../contract/response.ts';
import { hookSchema } from '../contract/schemas.ts';
import { requireFreeDisk } from '../http/access.ts';
import { actorOf, bearerOf } from '../http/context.ts';
import { createdHookSchema, hookRequestSchema, registerRequested, targetOf } from '../webhooks/registration.ts';
import { type Api, addWorkspaceOperation, jsonResponse, optionalHeaders, requiredHeaders } from './operation.ts';
import { keyedRequestOf, keyHeader } from './parameters.ts';
import type { ApiParts } from './parts.ts';

export function addHookRoutes(api: Api, routes: ApiParts): void {
  const { storage, idempotent, targets, onHooksChanged } = routes;

  addWorkspaceOperation(api, routes, {
    operationId: 'registerHook',
    summary: 'Register a build webhook, or replace the one with the same url',
    method: 'post',
    path: '/v1/workspaces/{id}/hooks',
    access: 'hooks:write',
    headers: keyHeader,
    body: hookRequestSchema,
    responses: {
      200: jsonResponse('Replaced.', hookSchema, optionalHeaders('Idempotency-Replayed')),
      201: jsonResponse('Registered.', createdHookSchema, optionalHeaders('Idempotency-Replayed')),
    },
    refusals: { 409: requiredHeaders('Retry-After') },
    async handle({ c, workspace, body }) {
      requireFreeDisk(routes);
      const response = await idempotent(
        workspace.id,
        keyedRequestOf(c),
        () => targetOf(body, targets),
        async (db, target) => {
          const registrant = { workspace: workspace.id, actor: actorOf(c), scopes: bearerOf(c).scopes };
          const { hook, isNew, madeSecret } = await registerRequested(db, storage.now, body, target, registrant);
          return jsonApiResponse(isNew ? 201 : 200, madeSecret === null ? hook : { ...hook, secret: madeSecret });
        },
      );
      onHooksChanged();
      return response;
    },
  });
}
