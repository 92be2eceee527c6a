import { z } from '@hono/zod-openapi';
import type { Sync } from '../../interface/resources.ts';
import { invalid, Refusal } from '../contract/problem.ts';
import { type ApiResponse, jsonApiResponse } from '../contract/response.ts';
import { branchField, syncSchema } from '../contract/schemas.ts';
import { type AccessControl, requireFreeDisk } from '../http/access.ts';
import { bearerOf } from '../http/context.ts';
import type { Idempotent } from '../idempotency/idempotency.ts';
import { findSync, isSyncId } from '../syncs/queue.ts';
import { type PrepareSync, startPrepared } from '../syncs/trigger.ts';
import { addressedWorkspace } from '../workspaces/addressed-workspace.ts';
import { type Api, addOperation, jsonResponse, optionalHeaders, requiredHeaders } from './operation.ts';
import { keyedRequestOf, keyHeader, syncParameter, workspaceParameter } from './parameters.ts';

export interface SyncRoutes extends AccessControl {
  readonly idempotent: Idempotent;
  readonly prepareSync: PrepareSync;
  /** The public origin of the service; undefined if unknown. */
  readonly publicUrl: () => string | undefined;
  /** Called when a sync was queued. */
  readonly onQueued: () => void;
}

const syncRequestSchema = z.object({ branch: branchField }).openapi('SyncRequest');

export function addSyncRoutes(api: Api, routes: SyncRoutes): void {
  const { storage, idempotent, prepareSync, onQueued, publicUrl } = routes;

  addOperation(api, routes, {
    operationId: 'startSync',
    summary: 'Sync a branch, or join its queued sync',
    method: 'post',
    path: '/v1/workspaces/{id}/sync',
    access: 'sync',
    params: workspaceParameter,
    headers: keyHeader,
    body: syncRequestSchema,
    responses: {
      202: jsonResponse('Queued. Location has its status.', syncSchema, {
        ...requiredHeaders('Location'),
        ...optionalHeaders('Idempotency-Replayed'),
      }),
    },
    refusals: { 409: requiredHeaders('Retry-After') },
    async handle({ c, body: { branch } }) {
      const workspace = await addressedWorkspace(c, storage);
      requireFreeDisk(routes);
      const response = await idempotent(
        { workspace: workspace.id },
        keyedRequestOf(c),
        () => prepareSync(workspace, branch),
        async (db, preparation) => {
          const wanted = { workspace: workspace.id, branch, requestedBy: bearerOf(c).name };
          const start = await startPrepared(db, storage.now, wanted, preparation);
          if (start.kind === 'unknown-branch') throw invalid({ pointer: '#/branch', detail: start.reason });
          return queuedResponse(workspace.id, start.sync, publicUrl());
        },
      );
      onQueued();
      return response;
    },
  });

  addOperation(api, routes, {
    operationId: 'getSync',
    summary: 'Get the status of a sync',
    method: 'get',
    path: '/v1/workspaces/{id}/syncs/{sync_id}',
    access: 'sync',
    params: syncParameter,
    responses: { 200: jsonResponse('The sync.', syncSchema) },
    async handle({ c }) {
      const workspace = await addressedWorkspace(c, storage);
      const id = c.req.param('sync_id') ?? '';
      const sync = isSyncId(id) ? await findSync(storage.read, workspace.id, id) : undefined;
      if (sync === undefined) throw new Refusal('not-found', 'This workspace has no such sync.');
      return jsonApiResponse(200, withCloneUrl(workspace.id, sync, publicUrl()));
    },
  });
}

export const queuedResponse = (workspace: string, sync: Sync, origin: string | undefined): ApiResponse =>
  jsonApiResponse(202, withCloneUrl(workspace, sync, origin), {
    location: `/v1/workspaces/${workspace}/syncs/${sync.sync_id}`,
  });

/** Does not use the Host of the request: behind a proxy, it may be another host, and the scheme is unknown. */
const withCloneUrl = (workspace: string, sync: Sync, origin: string | undefined) =>
  origin === undefined ? sync : { ...sync, clone_url: `${origin}/v1/workspaces/${workspace}/git` };
