import { z } from '@hono/zod-openapi';
import { jsonApiResponse } from '../contract/response.ts';
import { heldPathField, lockSchema } from '../contract/schemas.ts';
import type { AccessControl } from '../http/access.ts';
import type { QueuedRequest } from '../locks/line.ts';
import type { Locks } from '../locks/locks.ts';
import { addressedWorkspace } from '../workspaces/addressed-workspace.ts';
import { type Api, addOperation, jsonResponse } from './operation.ts';
import { workspaceParameter } from './parameters.ts';

export interface QueueRoute extends AccessControl {
  readonly locks: Pick<Locks, 'queue'>;
}

const queueSchema = z
  .object({
    queue: z.array(
      z.object({
        path: lockSchema.shape.path,
        position: z.int().openapi({ description: 'From 1, in the line of its path.' }),
        owner: lockSchema.shape.owner,
        origin: lockSchema.shape.origin,
        note: lockSchema.shape.note,
        since: lockSchema.shape.acquired_at,
        priority: z.enum(['high', 'normal', 'low']),
      }),
    ),
  })
  .openapi('Queue');

export function addQueueRoute(api: Api, route: QueueRoute): void {
  addOperation(api, route, {
    operationId: 'listQueue',
    summary: 'List who waits for the lock on a path, or for any lock, in order',
    method: 'get',
    path: '/v1/workspaces/{id}/queue',
    access: 'locks:read',
    params: workspaceParameter,
    query: z.object({ path: heldPathField.optional().openapi({ description: 'Only the line of this path.' }) }),
    responses: { 200: jsonResponse('Those who wait.', queueSchema) },
    async handle({ c, query: { path } }) {
      const { id: workspace } = await addressedWorkspace(c, route.storage);
      return jsonApiResponse(200, { queue: (await route.locks.queue({ workspace, path })).map(shown) });
    },
  });
}

/** Without the id of the place, which names a token. */
const shown = ({ placeId, ...request }: QueuedRequest): Omit<QueuedRequest, 'placeId'> => request;
