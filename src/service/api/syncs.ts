import { z } from '@hono/zod-openapi';
import { requireFreeDisk } from '../access/access.ts';
import { bearerOf, keyedRequestOf } from '../access/caller.ts';
import { branchField } from '../contract/request-fields.ts';
import { type ApiResponse, jsonApiResponse, Refusal, valid } from '../contract/response.ts';
import { type Sync, syncSchema } from '../contract/schemas.ts';
import { enqueue, findSync, syncIdPattern } from '../syncs/queue.ts';
import {
  type Api,
  type ApiParts,
  addWorkspaceOperation,
  jsonResponse,
  keyHeader,
  workspaceParameter,
} from './operation.ts';

const syncRequestSchema = z.object({ branch: branchField }).openapi('SyncRequest');

const syncParameter = workspaceParameter.extend({
  sync_id: z.string().openapi({
    param: { name: 'sync_id', in: 'path' },
    pattern: syncIdPattern.source,
    description: 'The sync_id that startSync returned.',
  }),
});

export function addSyncRoutes(api: Api, parts: ApiParts): void {
  const { storage, idempotent, prepareSync, publicUrl } = parts;

  addWorkspaceOperation(api, parts, {
    operationId: 'startSync',
    summary: 'Sync a branch, or join its queued sync',
    method: 'post',
    path: '/v1/workspaces/{id}/sync',
    access: 'sync',
    headers: keyHeader,
    body: syncRequestSchema,
    responses: {
      202: jsonResponse('Queued. Location has its status.', syncSchema),
    },
    async handle({ c, workspace, body: { branch } }) {
      return idempotent(
        workspace.id,
        keyedRequestOf(c),
        async () => {
          await requireFreeDisk(parts);
          return prepareSync(workspace, branch);
        },
        async (db, prepared) => {
          const requested = { estimatedObjects: valid('branch', prepared), requestedBy: bearerOf(c).name };
          const sync = await enqueue(db, { workspace: workspace.id, branch, ...requested });
          return queuedResponse(workspace.id, sync, publicUrl());
        },
      );
    },
  });

  addWorkspaceOperation(api, parts, {
    operationId: 'getSync',
    summary: 'Get the status of a sync',
    method: 'get',
    path: '/v1/workspaces/{id}/syncs/{sync_id}',
    access: 'sync',
    params: syncParameter,
    responses: { 200: jsonResponse('The sync.', syncSchema) },
    async handle({ c, workspace }) {
      const id = c.req.param('sync_id') ?? '';
      const sync = syncIdPattern.test(id) ? await findSync(storage.read, workspace.id, id) : undefined;
      if (sync === undefined) throw new Refusal('not-found', 'This workspace has no such sync.');
      return jsonApiResponse(200, withCloneUrl(workspace.id, sync, publicUrl()));
    },
  });
}

export const queuedResponse = (workspace: string, sync: Sync, origin: string | undefined): ApiResponse =>
  jsonApiResponse(202, withCloneUrl(workspace, sync, origin), {
    location: `/v1/workspaces/${workspace}/syncs/${sync.sync_id}`,
  });

/** Ignores the Host of the request: a proxy may have changed it, and the scheme is unknown. */
const withCloneUrl = (workspace: string, sync: Sync, origin: string | undefined) =>
  origin === undefined ? sync : { ...sync, clone_url: `${origin}/v1/workspaces/${workspace}/git` };
