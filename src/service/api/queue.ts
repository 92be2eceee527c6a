import { z } from '@hono/zod-openapi';
import { Refusal } from '../contract/problem.ts';
import { emptyResponse, jsonApiResponse } from '../contract/response.ts';
import { heldPathField, lockRequestSchema, lockSchema } from '../contract/schemas.ts';
import { requireFreeDisk } from '../http/access.ts';
import { bearerOf, keyedRequestOf } from '../http/context.ts';
import { measureCost } from '../http/request-scheduler.ts';
import { withoutPlaceId } from '../locks/responses.ts';
import { lfsLockTtl } from '../workspaces/lfs-settings.ts';
import { type Api, addWorkspaceOperation, jsonResponse } from './operation.ts';
import { keyHeader } from './parameters.ts';
import type { ApiParts } from './parts.ts';

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

const askedSchema = queuedSchema
  .extend({ ttl: z.string().openapi({ description: 'How long the lock will last.', example: '8h' }) })
  .openapi('AskedRequest');

const askSchema = z
  .object({
    path: pathField,
    ttl: ttlField
      .optional()
      .openapi({ description: 'By default, that of an earlier request, or as long as locks taken with Git LFS.' }),
    note: askNoteField.openapi({ description: 'Note to the holder, in one line. The lock gets it, too.' }),
  })
  .openapi('AskRequest');

const path = '/v1/workspaces/{id}/queue';

export function addQueueRoutes(api: Api, parts: ApiParts): void {
  const { locks, scheduler } = parts;

  addWorkspaceOperation(api, parts, {
    operationId: 'listQueue',
    summary: 'List who waits for the lock on a path, or for any lock, in order',
    method: 'get',
    path,
    access: 'locks:read',
    query: z.object({ path: heldPathField.optional().openapi({ description: 'Only the line of this path.' }) }),
    responses: {
      200: jsonResponse('The waiting requests.', z.object({ queue: z.array(queuedSchema) }).openapi('Queue')),
    },
    async handle({ c, workspace, query: { path } }) {
      const queue = await measureCost(scheduler, [bearerOf(c).id], () =>
        locks.queue({ workspace: workspace.id, path }),
      );
      return jsonApiResponse(200, { queue: queue.map(withoutPlaceId) });
    },
  });

  addWorkspaceOperation(api, parts, {
    operationId: 'askForLock',
    summary: 'Ask for a lock that someone else holds',
    description:
      'Sends the event lock.requested, and takes a place in line that needs no waiting client: the service acquires the lock for the owner of the token at its turn, and sends lock.acquired. Asking again changes ttl and note. A request is kept for 7 days.',
    method: 'post',
    path,
    access: 'locks:write',
    headers: keyHeader,
    body: askSchema,
    responses: { 201: jsonResponse('Waits in line.', askedSchema) },
    async handle({ c, workspace, body }) {
      requireFreeDisk(parts);
      const ttl = body.ttl ?? lfsLockTtl(workspace);
      const asked = { ...body, ttl, isDefaultTtl: body.ttl === undefined };
      return locks.askFor(keyedRequestOf(c), { ...asked, workspace: workspace.id, bearer: bearerOf(c) });
    },
  });

  addWorkspaceOperation(api, parts, {
    operationId: 'withdrawRequest',
    summary: 'Withdraw a request for a lock',
    method: 'delete',
    path,
    access: 'locks:write',
    query: z.object({ path: heldPathField }),
    responses: { 204: { description: 'Withdrawn.' } },
    async handle({ c, workspace: { id: workspace }, query }) {
      if (await locks.withdraw({ workspace, path: query.path, bearer: bearerOf(c) })) return emptyResponse(204);
      throw new Refusal(
        'not-found',
        `This token has no request for ${query.path}: it made none, withdrew it, or already got the lock.`,
      );
    },
  });
}
