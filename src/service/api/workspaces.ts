import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { bearerOf } from '../access/caller.ts';
import { jsonApiResponse, unavailable } from '../contract/response.ts';
import { branchSchema, type Pool, poolSchema, workspaceSchema } from '../contract/schemas.ts';
import type { Environment } from '../http/context.ts';
import { findPools, poolWithName, seatsOf } from '../pools/pools.ts';
import { asTimestampOrNull } from '../storage/timestamp.ts';
import { maySee } from '../tokens/tokens.ts';
import { syncedBranches } from '../workspaces/synced-branches.ts';
import { workspaceIdPattern } from '../workspaces/workspace-id.ts';
import { listWorkspaces } from '../workspaces/workspaces.ts';
import {
  type Api,
  type ApiParts,
  addOperation,
  addWorkspaceOperation,
  jsonResponse,
  workspaceParameter,
} from './operation.ts';

const poolParameter = workspaceParameter.extend({
  name: z.string().openapi({
    param: { name: 'name', in: 'path' },
    pattern: workspaceIdPattern.source,
    description: 'The name of the pool. The response for an invalid name is 404, as for an unknown one.',
    example: 'unity-pro',
  }),
});

export function addWorkspaceRoutes(api: Api, parts: ApiParts): void {
  const { storage, remotes } = parts;

  async function visiblePools(c: Context<Environment>, workspace: string, pools: readonly Pool[]) {
    const seats = await seatsOf(storage.read, workspace, pools, bearerOf(c));
    return seats.map(({ pool: { name }, seats }) => ({ name, items: seats.map(({ item }) => item) }));
  }

  addOperation(api, parts, {
    operationId: 'listWorkspaces',
    summary: 'List the workspaces that the token can see',
    method: 'get',
    path: '/v1/workspaces',
    access: 'any-token',
    responses: { 200: jsonResponse('The workspaces.', z.object({ workspaces: z.array(workspaceSchema) })) },
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
    responses: { 200: jsonResponse('The branches.', z.object({ branches: z.array(branchSchema) })) },
    async handle({ workspace }) {
      const { listing, failure } = await remotes.askAgain(workspace);
      if (failure?.kind === 'busy') throw unavailable(failure.message, 5);
      if (failure !== undefined) throw unavailable(`The remote of the workspace did not answer. ${failure.message}`);
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

  addWorkspaceOperation(api, parts, {
    operationId: 'listPools',
    summary: 'List the pools of a workspace: names for lists of lock paths',
    method: 'get',
    path: '/v1/workspaces/{id}/pools',
    access: 'locks:read',
    responses: { 200: jsonResponse('The pools.', z.object({ pools: z.array(poolSchema) })) },
    async handle({ c, workspace: { id } }) {
      return jsonApiResponse(200, { pools: await visiblePools(c, id, await findPools(storage.read, id)) });
    },
  });

  addWorkspaceOperation(api, parts, {
    operationId: 'getPool',
    summary: 'Get the items of a pool',
    method: 'get',
    path: '/v1/workspaces/{id}/pools/{name}',
    access: 'locks:read',
    params: poolParameter,
    responses: { 200: jsonResponse('The pool.', poolSchema) },
    async handle({ c, workspace: { id } }) {
      const pool = await poolWithName(storage.read, id, c.req.param('name') ?? '');
      const [visible] = await visiblePools(c, id, [pool]);
      return jsonApiResponse(200, visible);
    },
  });
}
