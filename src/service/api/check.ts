import { z } from '@hono/zod-openapi';
import { latestModes, pushLockModes } from '../../interface/resources.ts';
import { bearerOf } from '../access/caller.ts';
import { branchField, heldPathField } from '../contract/request-fields.ts';
import { jsonApiResponse } from '../contract/response.ts';
import { asOfField, lockSchema, outdatedSchema, type Resource } from '../contract/schemas.ts';
import { grants } from '../contract/scopes.ts';
import { toLock } from '../locks/find.ts';
import { pushLockMode } from '../workspaces/settings.ts';
import { type Api, type ApiParts, addWorkspaceOperation, jsonResponse } from './operation.ts';

const maxPaths = 1_000;

const requestSchema = z
  .object({
    paths: z.array(heldPathField).max(maxPaths, `A request names at most ${maxPaths} paths.`),
    branch: branchField
      .optional()
      .openapi({ description: 'The branch of the caller: a checkout, or a pushed branch.' }),
  })
  .openapi('CheckRequest');

const checkedSchema = z
  .object({
    locks: z
      .array(lockSchema.extend({ branch: z.string().nullable().openapi({ description: 'From Lock-Branch.' }) }))
      .openapi({ description: 'The active locks on the paths.' }),
    push_locks: z.enum(pushLockModes).openapi({ description: 'The locks that refuse a push.' }),
    latest: z.enum(latestModes).openapi({ description: 'What happens to a lock on an outdated file.' }),
    outdated: z.array(outdatedSchema),
    as_of: asOfField,
  })
  .openapi('CheckedPaths');

export function addCheckRoute(api: Api, parts: ApiParts): void {
  const { locks, compare } = parts;

  addWorkspaceOperation(api, parts, {
    operationId: 'checkPaths',
    summary: 'Find the locks on many paths, and the files that are newer on another branch',
    description: 'Changes no locks. For hooks of git servers, and for clients that hold locks.',
    method: 'post',
    path: '/v1/workspaces/{id}/check',
    access: 'locks:read',
    body: requestSchema,
    responses: { 200: jsonResponse('The locks on the paths, and newer versions of their files.', checkedSchema) },
    async handle({ c, workspace, body: { paths, branch } }) {
      const { scopes } = bearerOf(c);
      const syncsBranch = grants(scopes, 'locks:write') || grants(scopes, 'sync');
      const [held, { gap: _, ...comparison }] = await Promise.all([
        locks.findAll(paths.map((path) => ({ workspace: workspace.id, path }))),
        compare({ workspace, branch, syncsBranch, paths }),
      ]);
      // On Windows, several of the paths may be the same file.
      const byId = new Map(held.flatMap((row) => (row === undefined ? [] : [[row.id, row] as const])));
      const checked: Resource<typeof checkedSchema> = {
        locks: [...byId.values()].map((row) => ({ ...toLock(row), branch: row.branch })),
        push_locks: pushLockMode.of(workspace.push_locks),
        ...comparison,
      };
      return jsonApiResponse(200, checked);
    },
  });
}
