import { z } from '@hono/zod-openapi';
import { Refusal } from '../contract/problem.ts';
import { emptyResponse, jsonApiResponse } from '../contract/response.ts';
import { heldPathField, lockRequestSchema, lockSchema } from '../contract/schemas.ts';
import { type AccessControl, requireFreeDisk } from '../http/access.ts';
import { bearerOf } from '../http/context.ts';
import type { Locks } from '../locks/locks.ts';
import { withoutPlaceId } from '../locks/responses.ts';
import { addressedWorkspace } from '../workspaces/addressed-workspace.ts';
import { lfsLockTtl } from '../workspaces/lfs-lock-ttl.ts';
import { type Api, addOperation, jsonResponse, optionalHeaders, requiredHeaders } from './operation.ts';
import { keyedRequestOf, keyHeader, workspaceParameter } from './parameters.ts';

export interface QueueRoutes extends AccessControl {
  readonly locks: Pick<Locks, 'queue' | 'askFor' | 'withdraw'>;
}

const queuedSchema = z
  .object({
    path: lockSchema.shape.path,
    position: z.int().openapi({ description: 'From 1, in the line of its path.' }),
    owner: lockSchema.shape.owner,
    origin: lockSchema.shape.origin,
    note: lockSchema.shape.note,
    since: lockSchema.shape.acquired_at,
    priority: z.enum(['high', 'normal', 'low']),
  })
  .openapi('QueuedRequest');

const { path: pathField, ttl: ttlField, note: askNoteField } = lockRequestSchema.shape;

const askSchema = z
  .object({
    path: pathField,
    ttl: ttlField.optional().openapi({ description: 'By default, as long as locks taken with Git LFS.' }),
    note: askNoteField.openapi({ description: 'Note to the holder, in one line. The lock gets it, too.' }),
  })
  .openapi('AskRequest');

const path = '/v1/workspaces/{id}/queue';

export function addQueueRoutes(api: Api, routes: QueueRoutes): void {
  const { storage, locks } = routes;

  addOperation(api, routes, {
    operationId: 'listQueue',
    summary: 'List who waits for the lock on a path, or for any lock, in order',
    method: 'get',
    path,
    access: 'locks:read',
    params: workspaceParameter,
    query: z.object({ path: heldPathField.optional().openapi({ description: 'Only the line of this path.' }) }),
    responses: { 200: jsonResponse('Those who wait.', z.object({ queue: z.array(queuedSchema) }).openapi('Queue')) },
    async handle({ c, query }) {
      const { id: workspace } = await addressedWorkspace(c, storage);
      return jsonApiResponse(200, { queue: (await locks.queue({ workspace, path: query.path })).map(withoutPlaceId) });
    },
  });

  addOperation(api, routes, {
    operationId: 'askForLock',
    summary: 'Ask for a lock that someone else holds',
    description:
      'Sends the event lock.requested, and takes a place in line that needs no waiting client: the service takes the lock for the owner of the token at its turn, and the event lock.acquired tells. Asking again changes ttl and note. A request is kept for 7 days.',
    method: 'post',
    path,
    access: 'locks:write',
    params: workspaceParameter,
    headers: keyHeader,
    body: askSchema,
    responses: { 201: jsonResponse('Waits in line.', queuedSchema, optionalHeaders('Idempotency-Replayed')) },
    refusals: { 409: requiredHeaders('Retry-After') },
    async handle({ c, body }) {
      const workspace = await addressedWorkspace(c, storage);
      requireFreeDisk(routes);
      const ttl = body.ttl ?? lfsLockTtl(workspace);
      return locks.askFor(keyedRequestOf(c), { ...body, ttl, workspace: workspace.id, bearer: bearerOf(c) });
    },
  });

  addOperation(api, routes, {
    operationId: 'withdrawRequest',
    summary: 'Withdraw a request for a lock',
    method: 'delete',
    path,
    access: 'locks:write',
    params: workspaceParameter,
    query: z.object({ path: heldPathField }),
    responses: { 204: { description: 'Withdrawn.' } },
    async handle({ c, query }) {
      const { id: workspace } = await addressedWorkspace(c, storage);
      if (await locks.withdraw({ workspace, path: query.path, bearer: bearerOf(c) })) return emptyResponse(204);
      throw new Refusal(
        'not-found',
        `This token does not ask for ${query.path}. It never did, has withdrawn, or has got the lock.`,
      );
    },
  });
}
