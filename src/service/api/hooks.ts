import { z } from '@hono/zod-openapi';
import { hookEvents, hookFormats } from '../../interface/resources.ts';
import { requireFreeDisk } from '../access/access.ts';
import { actorOf, keyedRequestOf } from '../access/caller.ts';
import { branchField, parsedBy } from '../contract/request-fields.ts';
import { jsonApiResponse, valid } from '../contract/response.ts';
import { hookSchema } from '../contract/schemas.ts';
import { checkTarget, maxUrlLength } from '../outbound/target.ts';
import { extraHeadersField } from '../webhooks/extra-headers.ts';
import { registerHook } from '../webhooks/hooks.ts';
import { parseSecret, secretPattern } from '../webhooks/signature.ts';
import { type Api, type ApiParts, addWorkspaceOperation, jsonResponse, keyHeader } from './operation.ts';

export function addHookRoutes(api: Api, parts: ApiParts): void {
  const { idempotent, targets } = parts;

  addWorkspaceOperation(api, parts, {
    operationId: 'registerHook',
    summary: 'Register a build webhook, or replace the one with the same url',
    method: 'post',
    path: '/v1/workspaces/{id}/hooks',
    access: 'hooks:write',
    headers: keyHeader,
    body: hookRequestSchema,
    responses: {
      200: jsonResponse('Replaced.', hookSchema),
      201: jsonResponse('Registered.', createdHookSchema),
    },
    async handle({ c, workspace, body }) {
      return idempotent(
        workspace.id,
        keyedRequestOf(c),
        async () => {
          await requireFreeDisk(parts);
          // The URL in the form that deliveries use.
          const { href: url } = valid('url', await checkTarget(body.url, targets, workspace.id));
          return { ...body, url };
        },
        async (db, request) => {
          const registration = { ...request, workspace: workspace.id, actor: actorOf(c) };
          const { hook, isNew, newSecret } = await registerHook(db, registration);
          return jsonApiResponse(isNew ? 201 : 200, newSecret === null ? hook : { ...hook, secret: newSecret });
        },
      );
    },
  });
}

const createdHookSchema = hookSchema
  .extend({
    secret: z.string().optional().openapi({ description: 'Present only if none was given. It is never shown again.' }),
  })
  .openapi('CreatedHook');

const maxBranches = 100;

const hookRequestSchema = z
  .object({
    url: z.string().openapi({
      maxLength: maxUrlLength,
      format: 'uri',
      pattern: '^https?://',
      description:
        'Without user name, password or fragment. http only to a network that the operator of the service allows.',
      example: 'https://ci.example.com/hooks/workspace',
    }),
    events: z
      .array(z.enum(hookEvents))
      .min(1, 'Name at least one event, or leave the field out.')
      .max(hookEvents.length, `There are only ${hookEvents.length} events.`)
      .default(['sync.succeeded']),
    branches: z
      .array(branchField)
      .min(1, 'Name at least one branch, or leave the field out for all.')
      .max(maxBranches, `A hook names at most ${maxBranches} branches. Leave the field out for all.`)
      .nullable()
      .default(null)
      .openapi({ description: 'Only syncs of these branches; all if absent. Other events have no branch.' }),
    secret: z.string().transform(parsedBy(parseSecret)).optional().openapi({
      type: 'string',
      pattern: secretPattern,
      description: 'whsec_ and base64 of 24 to 64 bytes; created if absent.',
    }),
    format: z.enum(hookFormats).default('standard'),
    headers: extraHeadersField,
  })
  .openapi('HookRequest');
