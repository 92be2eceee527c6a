import { z } from '@hono/zod-openapi';
import { pathKeptMinutes } from '../../interface/lock-path.ts';
import { requireFreeDisk } from '../access/access.ts';
import { bearerOf, keyedRequestOf } from '../access/caller.ts';
import { lockPathField, lockRequestSchema } from '../contract/request-fields.ts';
import { jsonApiResponse } from '../contract/response.ts';
import { lockSchema } from '../contract/schemas.ts';
import { isKeyUsed } from '../idempotency/idempotency.ts';
import { listQueue, withoutWaitId } from '../locks/queue.ts';
import { type Api, type ApiParts, addWorkspaceOperation, jsonResponse, keyHeader } from './operation.ts';

const queuedSchema = z
  .object({
    path: lockSchema.shape.path,
    position: z.int().openapi({ description: 'Its place in the line of its path, from 1.' }),
    owner: lockSchema.shape.owner,
    origin: lockSchema.shape.origin,
    note: lockSchema.shape.note,
    since: lockSchema.shape.acquired_at,
    priority: z.enum(['high', 'normal', 'low']),
    kept_until: lockSchema.shape.expires_at.optional().openapi({
      description: 'The path is free, and reserved until then for the person who asked.',
    }),
  })
  .openapi('QueuedRequest');

const askSchema = z
  .object({
    path: lockPathField,
    note: lockRequestSchema.shape.note.openapi({ description: 'Note to the holder, in one line.' }),
  })
  .openapi('AskRequest');

const path = '/v1/workspaces/{id}/queue';

export function addQueueRoutes(api: Api, parts: ApiParts): void {
  const { locks } = parts;

  addWorkspaceOperation(api, parts, {
    operationId: 'listQueue',
    summary: 'List the requests that wait for a path, in order',
    method: 'get',
    path,
    access: 'locks:read',
    query: z.object({ path: lockPathField }),
    responses: {
      200: jsonResponse('The waiting requests.', z.object({ queue: z.array(queuedSchema) }).openapi('Queue')),
    },
    async handle({ workspace, query: { path } }) {
      const queue = await listQueue(parts.storage.read, { workspace: workspace.id, path });
      return jsonApiResponse(200, { queue: queue.map(withoutWaitId) });
    },
  });

  addWorkspaceOperation(api, parts, {
    operationId: 'askForLock',
    summary: 'Ask for a lock that someone else holds',
    description: `For people: sends the event lock.requested, and keeps a place in line without a waiting client. When its turn comes, the path is reserved for the owner of the token for ${pathKeptMinutes} minutes, but not locked. A repeated request replaces the note. A request expires after 7 days.`,
    method: 'post',
    path,
    access: 'locks:write',
    headers: keyHeader,
    body: askSchema,
    responses: { 201: jsonResponse('The request waits in line.', queuedSchema) },
    async handle({ c, workspace, body }) {
      const key = keyedRequestOf(c);
      await requireFreeDisk(parts, () => isKeyUsed(parts.storage, key));
      return jsonApiResponse(201, await locks.askFor({ ...body, workspace: workspace.id, bearer: bearerOf(c) }, key));
    },
  });
}
