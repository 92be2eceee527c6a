import { requireFreeDisk } from '../access/access.ts';
import { actorOf, bearerOf, keyedRequestOf } from '../access/caller.ts';
import { jsonApiResponse, onceResponse } from '../contract/response.ts';
import { hookSchema } from '../contract/schemas.ts';
import { registerHook } from '../webhooks/hooks.ts';
import { checkHookUrl, createdHookSchema, hookRequestSchema } from '../webhooks/registration.ts';
import { type Api, addWorkspaceOperation, jsonResponse } from './operation.ts';
import { keyHeader } from './parameters.ts';
import type { ApiParts } from './parts.ts';

export function addHookRoutes(api: Api, parts: ApiParts): void {
  const { storage, idempotent, targets } = parts;

  addWorkspaceOperation(api, parts, {
    operationId: 'registerHook',
    summary: 'Register a build webhook, or replace the one with the same url',
    method: 'post',
    path: '/v1/workspaces/{id}/hooks',
    access: 'hooks:write',
    headers: keyHeader,
    body: hookRequestSchema,
    responses: {
      200: jsonResponse('Replaced.', hookSchema),
      201: jsonResponse('Registered.', createdHookSchema),
    },
    async handle({ c, workspace, body }) {
      requireFreeDisk(parts);
      const { result, replayed } = await idempotent(
        workspace.id,
        keyedRequestOf(c),
        () => checkHookUrl(body, targets, workspace.id),
        async (db, request) => {
          const registration = { ...request, workspace: workspace.id, actor: actorOf(c), scopes: bearerOf(c).scopes };
          const { hook, isNew, newSecret } = await registerHook(db, storage.now, registration);
          return jsonApiResponse(isNew ? 201 : 200, newSecret === null ? hook : { ...hook, secret: newSecret });
        },
      );
      return onceResponse(result, replayed);
    },
  });
}
