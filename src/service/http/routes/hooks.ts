import type { Storage } from '../../storage/storage.ts';
import type { TargetCheck } from '../../webhooks/target-address.ts';
import { type AccessControl, requireFreeDisk } from '../access.ts';
import { registerRequested, targetOf } from '../hook-registration.ts';
import { createdHookSchema, hookRequestSchema } from '../hook-schema.ts';
import type { Idempotent } from '../idempotency.ts';
import { keyedRequestOf } from '../keyed-request.ts';
import { type App, actorOf, addOperation, jsonAnswer, jsonResponse } from '../operation.ts';
import { addressedWorkspace, workspaceParameter } from '../parameters.ts';
import { always, sometimes } from '../response-headers.ts';
import { hookSchema, keyHeader } from '../schemas.ts';

export interface HookRoutes extends AccessControl {
  readonly storage: Storage;
  readonly idempotent: Idempotent;
  readonly targets: TargetCheck;
}

export function addHookRoutes(app: App, routes: HookRoutes): void {
  const { storage, idempotent, targets } = routes;

  addOperation(
    app,
    routes,
    {
      operationId: 'registerHook',
      summary: 'Register a build webhook; the same url again replaces it',
      method: 'post',
      path: '/v1/workspaces/{id}/hooks',
      access: 'hooks:write',
      params: workspaceParameter,
      headers: keyHeader,
      body: hookRequestSchema,
      responses: {
        200: jsonResponse('Replaced.', hookSchema, sometimes('Idempotency-Replayed')),
        201: jsonResponse('Registered.', createdHookSchema, sometimes('Idempotency-Replayed')),
      },
      refusals: { 404: {}, 409: always('Retry-After') },
    },
    async ({ c, body }) => {
      const workspace = await addressedWorkspace(c, storage);
      requireFreeDisk(routes);
      return idempotent(
        { workspace: workspace.id },
        keyedRequestOf(c),
        () => targetOf(body, targets),
        async (db, target) => {
          const registrant = { workspace: workspace.id, actor: actorOf(c) };
          const registered = await registerRequested(db, storage.now, body, target, registrant);
          switch (registered.kind) {
            case 'updated':
              return jsonAnswer(200, registered.hook);
            case 'created': {
              const { hook, madeSecret } = registered;
              return jsonAnswer(201, madeSecret === null ? hook : { ...hook, secret: madeSecret });
            }
          }
        },
      );
    },
  );
}
