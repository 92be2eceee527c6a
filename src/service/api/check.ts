import { z } from '@hono/zod-openapi';
import { heldPathField } from '../contract/request-fields.ts';
import { jsonApiResponse } from '../contract/response.ts';
import { lockSchema, type Resource } from '../contract/schemas.ts';
import { toLock } from '../locks/find.ts';
import { type Api, type ApiParts, addWorkspaceOperation, jsonResponse } from './operation.ts';

const maxPaths = 1_000;

const requestSchema = z
  .object({ paths: z.array(heldPathField).max(maxPaths, `A request names at most ${maxPaths} paths.`) })
  .openapi('CheckRequest');

const checkedSchema = z
  .object({ locks: z.array(lockSchema).openapi({ description: 'The active locks on the paths.' }) })
  .openapi('CheckedPaths');

export function addCheckRoute(api: Api, parts: ApiParts): void {
  const { locks } = parts;

  addWorkspaceOperation(api, parts, {
    operationId: 'checkPaths',
    summary: 'Find the locks on many paths',
    description: 'Changes no locks.',
    method: 'post',
    path: '/v1/workspaces/{id}/check',
    access: 'locks:read',
    body: requestSchema,
    responses: { 200: jsonResponse('The locks on the paths.', checkedSchema) },
    async handle({ workspace, body: { paths } }) {
      const held = await locks.findAll([...new Set(paths)].map((path) => ({ workspace: workspace.id, path })));
      const checked: Resource<typeof checkedSchema> = { locks: held.flatMap((row) => (row ? toLock(row) : [])) };
      return jsonApiResponse(200, checked);
    },
  });
}
