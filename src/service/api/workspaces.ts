import { z } from '@hono/zod-openapi';
import { bearerOf } from '../access/caller.ts';
import { unavailable } from '../contract/problem.ts';
import { jsonApiResponse } from '../contract/response.ts';
import { branchSchema, workspaceSchema } from '../contract/schemas.ts';
import { asTimestampOrNull } from '../storage/timestamp.ts';
import { maySee } from '../tokens/tokens.ts';
import { syncedBranches } from '../workspaces/synced-branches.ts';
import { listWorkspaces } from '../workspaces/workspaces.ts';
import { type Api, addOperation, addWorkspaceOperation, jsonResponse } from './operation.ts';
import type { ApiParts } from './parts.ts';

export function addWorkspaceRoutes(api: Api, parts: ApiParts): void {
  const { storage, remoteMemory } = parts;

  addOperation(api, parts, {
    operationId: 'listWorkspaces',
    summary: 'List the workspaces that the token can see',
    method: 'get',
    path: '/v1/workspaces',
    access: 'any-token',
    responses: { 200: jsonResponse('All of them.', z.object({ workspaces: z.array(workspaceSchema) })) },
    async handle({ c }) {
      const workspaces = await listWorkspaces(storage.read);
      return jsonApiResponse(200, { workspaces: workspaces.filter(({ id }) => maySee(bearerOf(c), id)) });
    },
  });

  addWorkspaceOperation(api, parts, {
    operationId: 'listBranches',
    summary: 'List the branches of the remote and their last sync',
    method: 'get',
    path: '/v1/workspaces/{id}/branches',
    access: 'any-token',
    responses: { 200: jsonResponse('All of them.', z.object({ branches: z.array(branchSchema) })) },
    async handle({ workspace }) {
      const { listing, failure } = await remoteMemory.askAgain(workspace);
      if (failure?.isBusy) throw unavailable(failure.reason, 5);
      if (failure !== undefined) throw unavailable(`The remote of the workspace did not answer. ${failure.reason}`);
      const synced = await syncedBranches(storage, workspace.id);
      const branches = [...listing.branches].map(([name, head]) => ({
        name,
        head,
        synced_head: synced.get(name)?.head ?? null,
        synced_at: asTimestampOrNull(synced.get(name)?.syncedAt ?? null),
        default: name === listing.defaultBranch,
      }));
      return jsonApiResponse(200, { branches });
    },
  });
}
