import { z } from '@hono/zod-openapi';
import { scopes } from '../../interface/scopes.ts';
import { bearerOf } from '../access/caller.ts';
import { jsonApiResponse } from '../contract/response.ts';
import { type Api, addOperation, jsonResponse } from './operation.ts';
import type { ApiParts } from './parts.ts';

const tokenSchema = z
  .object({
    id: z.string().openapi({ example: 'tok_0b7c0f3e-3d5c-4c58-9a53-6f2f5a8f6a11' }),
    name: z.string().openapi({ example: 'laptop' }),
    owner: z.string().openapi({ description: 'Owner of its locks.', example: 'ada' }),
    scopes: z.array(z.enum(scopes)),
    workspaces: z
      .array(z.string())
      .nullable()
      .openapi({ description: 'The workspaces that it is limited to; null for all.' }),
  })
  .openapi('Token');

/** Describes the token of the request, so that a client recognizes its own locks. */
export function addTokenRoute(api: Api, parts: ApiParts): void {
  addOperation(api, parts, {
    operationId: 'getToken',
    summary: 'Get the owner and the scopes of the token of this request',
    method: 'get',
    path: '/v1/token',
    access: 'any-token',
    responses: { 200: jsonResponse('The token, without its secret.', tokenSchema) },
    async handle({ c }) {
      const { id, name, owner, scopes, workspaces } = bearerOf(c);
      return jsonApiResponse(200, { id, name, owner, scopes, workspaces });
    },
  });
}
