import { z } from '@hono/zod-openapi';
import { Refusal, unavailable } from '../contract/problem.ts';
import { jsonApiResponse } from '../contract/response.ts';
import { branchSchema, workspaceSchema } from '../contract/schemas.ts';
import type { AccessControl } from '../http/access.ts';
import { bearerOf } from '../http/context.ts';
import { maySee } from '../tokens/tokens.ts';
import { addressedWorkspace } from '../workspaces/addressed-workspace.ts';
import type { ListBranches } from '../workspaces/branches.ts';
import { listWorkspaces } from '../workspaces/workspaces.ts';
import { type Api, addOperation, jsonResponse } from './operation.ts';
import { workspaceParameter } from './parameters.ts';

export interface WorkspaceRoutes extends AccessControl {
  readonly listBranches: ListBranches;
}

export function addWorkspaceRoutes(api: Api, routes: WorkspaceRoutes): void {
  const { storage, listBranches } = routes;

  addOperation(api, routes, {
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

  addOperation(api, routes, {
    operationId: 'listBranches',
    summary: 'List the branches of the remote and their last sync',
    method: 'get',
    path: '/v1/workspaces/{id}/branches',
    access: 'any-token',
    params: workspaceParameter,
    responses: { 200: jsonResponse('All of them.', z.object({ branches: z.array(branchSchema) })) },
    async handle({ c }) {
      const listing = await listBranches(await addressedWorkspace(c, storage));
      switch (listing.kind) {
        case 'listed':
          return jsonApiResponse(200, { branches: listing.branches });
        case 'busy':
          throw new Refusal('unavailable', listing.reason, { headers: { 'retry-after': '5' } });
        case 'no-answer':
          throw unavailable(`The remote of the workspace did not answer. ${listing.reason}`);
      }
    },
  });
}
