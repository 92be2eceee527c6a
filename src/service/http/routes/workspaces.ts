import { z } from '@hono/zod-openapi';
import { maySee } from '../../tokens/tokens.ts';
import type { ListBranches } from '../../workspaces/branches.ts';
import { listWorkspaces } from '../../workspaces/workspaces.ts';
import type { AccessControl } from '../access.ts';
import { type App, addOperation, bearerOf, jsonAnswer, jsonResponse } from '../operation.ts';
import { addressedWorkspace, workspaceParameter } from '../parameters.ts';
import { Refusal, unavailable } from '../refusal.ts';
import { branchSchema, workspaceSchema } from '../schemas.ts';

export interface WorkspaceRoutes extends AccessControl {
  readonly listBranches: ListBranches;
}

export function addWorkspaceRoutes(app: App, routes: WorkspaceRoutes): void {
  const { storage, listBranches } = routes;

  addOperation(
    app,
    routes,
    {
      operationId: 'listWorkspaces',
      summary: 'List the workspaces that the token can see',
      method: 'get',
      path: '/v1/workspaces',
      access: 'any-token',
      responses: { 200: jsonResponse('All of them.', z.object({ workspaces: z.array(workspaceSchema) })) },
    },
    async ({ c }) => {
      const workspaces = await listWorkspaces(storage.read);
      return jsonAnswer(200, { workspaces: workspaces.filter(({ id }) => maySee(bearerOf(c), id)) });
    },
  );

  addOperation(
    app,
    routes,
    {
      operationId: 'listBranches',
      summary: 'List the branches of the remote, and what has been synced of each',
      method: 'get',
      path: '/v1/workspaces/{id}/branches',
      access: 'any-token',
      params: workspaceParameter,
      responses: { 200: jsonResponse('All of them.', z.object({ branches: z.array(branchSchema) })) },
      refusals: { 404: {} },
    },
    async ({ c }) => {
      const listing = await listBranches(await addressedWorkspace(c, storage));
      switch (listing.kind) {
        case 'listed':
          return jsonAnswer(200, { branches: listing.branches });
        case 'busy':
          throw new Refusal('unavailable', listing.why, { headers: { 'retry-after': '5' } });
        case 'no-answer':
          throw unavailable(`The remote of the workspace could not be asked. ${listing.why}`);
      }
    },
  );
}
