import { z } from '@hono/zod-openapi';
import { lockPathFromUrl } from '../../interface/lock-path.ts';
import { admitEmptyRelease, requireFreeDisk } from '../access/access.ts';
import { actorOf, bearerOf, keyedRequestOf, originHeader, runOriginOf } from '../access/caller.ts';
import { describedLockPath, lockRequestSchema, noteField } from '../contract/request-fields.ts';
import { type ApiResponse, emptyResponse, jsonApiResponse, valid } from '../contract/response.ts';
import type { Lock } from '../contract/schemas.ts';
import { acquiredLockSchema, lockSchema } from '../contract/schemas.ts';
import { lastSegment } from '../http/request-target.ts';
import { isKeyUsed } from '../idempotency/idempotency.ts';
import { entityTag, parseIfMatch, tagPattern } from '../locks/change-lock.ts';
import { appliedWait, orThrow } from '../locks/refusals.ts';
import { lockBranchHeader, lockBranchOf, waitHeaders, waitWith } from './lock-headers.ts';
import {
  type Api,
  type ApiParts,
  addWorkspaceOperation,
  jsonResponse,
  keyHeader,
  workspaceParameter,
} from './operation.ts';

const conditionHeader = z.object({
  'If-Match': z
    .string()
    .optional()
    .openapi({
      pattern: `^(?:\\*|${tagPattern}(?:[ \\t]*,[ \\t]*${tagPattern})*)$`,
      description:
        'The ETag of the lock, several ETags, or * for any lock. Weak ETags (W/) and invalid values match none: 412.',
      example: '"lock_1"',
    }),
});

const acquireHeaders = z.object({
  ...keyHeader.shape,
  ...conditionHeader.shape,
  ...originHeader.shape,
  ...waitHeaders.shape,
  ...lockBranchHeader.shape,
});

const lockPathParameter = workspaceParameter.extend({
  path: z.string().openapi({
    ...describedLockPath,
    param: { name: 'path', in: 'path' },
    description: `${describedLockPath.description} Percent-encoded as one segment; slashes may also be sent as they are.`,
  }),
});

export function addLockRoutes(api: Api, parts: ApiParts): void {
  const { storage, locks } = parts;

  addWorkspaceOperation(api, parts, {
    operationId: 'acquireLock',
    summary: 'Acquire a lock on a path, or renew one (If-Match)',
    method: 'post',
    path: '/v1/workspaces/{id}/locks',
    access: 'locks:write',
    headers: acquireHeaders,
    body: lockRequestSchema,
    responses: {
      200: jsonResponse('Renewed.', lockSchema),
      201: jsonResponse('Acquired.', acquiredLockSchema),
    },
    async handle({ c, workspace, body }) {
      const ifMatch = c.req.header('if-match');
      const key = keyedRequestOf(c);
      const caller = { workspace: workspace.id, bearer: bearerOf(c) };
      if (ifMatch !== undefined) {
        const renewal = { ...body, ...caller, match: parseIfMatch(ifMatch) };
        const { lock } = orThrow(await locks.renew(key, renewal));
        return jsonApiResponse(200, lock, lockHeaders(workspace.id, lock));
      }
      await requireFreeDisk(parts, () => isKeyUsed(storage, key));
      const branch = lockBranchOf(c);
      const compare = () => parts.compare({ workspace, branch, paths: [body.path] });
      const request = { ...body, ...caller, origin: runOriginOf(c), compare };
      return waitWith(c, storage, async (options) => {
        const { lock, comparison, waitedSeconds } = await locks.acquire(key, request, options);
        const { latest, outdated, as_of } = comparison;
        const acquired = { ...lock, ...(latest !== 'off' && { outdated: outdated[0] ?? null, as_of }) };
        return jsonApiResponse(201, acquired, { ...appliedWait(waitedSeconds), ...lockHeaders(workspace.id, lock) });
      });
    },
  });

  addWorkspaceOperation(api, parts, {
    operationId: 'releaseLock',
    summary: 'Release the lock on a path',
    description: 'A release does not count towards the rate limit. Requests that release nothing do, and can get 429.',
    method: 'delete',
    path: '/v1/workspaces/{id}/locks/{path}',
    access: 'locks:write',
    charge: 'never',
    params: lockPathParameter,
    query: z
      .object({
        force: z
          .enum(['true', 'false'])
          .default('false')
          .openapi({ description: "Release another owner's lock. Needs locks:admin, and is audited." }),
        reason: noteField.optional().openapi({
          description: 'The reason, in one line, for the audit log. Only with force=true.',
          example: 'The run was cancelled',
        }),
      })
      .refine(({ force, reason }) => force === 'true' || reason === undefined, {
        path: ['reason'],
        message: 'It applies only with force=true.',
      }),
    headers: conditionHeader,
    responses: { 204: { description: 'Released.' } },
    async handle({ c, workspace, query }) {
      // Parsed from the raw path, because the decoded path no longer shows which slashes were encoded.
      const path = valid('path', lockPathFromUrl(lastSegment(c.req.path)));
      const bearer = bearerOf(c);
      const match = parseIfMatch(c.req.header('if-match'));
      const change = { workspace: workspace.id, path, match, bearer, actor: actorOf(c) };
      const release = await locks.release({ ...change, force: query.force === 'true', reason: query.reason });
      if (release.kind === 'refused') admitEmptyRelease(parts, bearer);
      orThrow(release);
      return emptyResponse(204);
    },
  });
}

const lockHeaders = (workspace: string, { id, path }: Lock): ApiResponse['headers'] => ({
  etag: entityTag(id),
  location: `/v1/workspaces/${workspace}/locks/${encodeURIComponent(path)}`,
});
