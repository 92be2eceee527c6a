import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { bearerOf } from '../access/caller.ts';
import { jsonApiResponse } from '../contract/response.ts';
import { type Pool, poolSchema } from '../contract/schemas.ts';
import type { Environment } from '../http/context.ts';
import { findPools, poolWithName, type StoredPool } from '../pools/pools.ts';
import { seatsOf } from '../pools/seats.ts';
import { type Api, addWorkspaceOperation, jsonResponse } from './operation.ts';
import { poolParameter } from './parameters.ts';
import type { ApiParts } from './parts.ts';

export function addPoolRoutes(api: Api, parts: ApiParts): void {
  const { storage, locks } = parts;

  const visiblePool = async (c: Context<Environment>, pool: StoredPool): Promise<Pool> => {
    const seats = await seatsOf(locks, pool, bearerOf(c));
    return { name: pool.name, items: seats.map(({ item }) => item) };
  };

  addWorkspaceOperation(api, parts, {
    operationId: 'listPools',
    summary: 'List the pools of a workspace: names for lists of lock paths',
    method: 'get',
    path: '/v1/workspaces/{id}/pools',
    access: 'locks:read',
    responses: { 200: jsonResponse('All of them.', z.object({ pools: z.array(poolSchema) })) },
    async handle({ c, workspace }) {
      const pools = await findPools(storage.read, { workspace: workspace.id });
      return jsonApiResponse(200, { pools: await Promise.all(pools.map((pool) => visiblePool(c, pool))) });
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
    async handle({ c, workspace }) {
      const pool = await poolWithName(storage.read, workspace.id, c.req.param('name') ?? '');
      return jsonApiResponse(200, await visiblePool(c, pool));
    },
  });
}
