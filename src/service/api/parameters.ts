import { z } from '@hono/zod-openapi';
import { describedLockPath } from '../contract/request-fields.ts';
import { keyPattern, maxKeyLength } from '../idempotency/keyed-request.ts';
import { syncIdPattern } from '../syncs/queue.ts';
import { maxWorkspaceIdLength, workspaceIdPattern } from '../workspaces/workspace-id.ts';

export const workspaceParameter = z.object({
  id: z.string().openapi({
    param: { name: 'id', in: 'path' },
    minLength: 1,
    maxLength: maxWorkspaceIdLength,
    pattern: workspaceIdPattern.source,
    description: 'The id of the workspace. Invalid ids get 404, like workspaces that the token cannot see.',
    example: 'game',
  }),
});

export const lockPathParameter = workspaceParameter.extend({
  path: z.string().openapi({
    ...describedLockPath,
    param: { name: 'path', in: 'path' },
    description: `${describedLockPath.description} Percent-encoded as one segment; slashes may also be sent as they are.`,
  }),
});

export const poolParameter = workspaceParameter.extend({
  name: z.string().openapi({
    param: { name: 'name', in: 'path' },
    pattern: workspaceIdPattern.source,
    description: 'The name of the pool. Invalid names get 404, like unknown ones.',
    example: 'unity-pro',
  }),
});

export const leaseIdPattern = /^[A-Za-z0-9_-]{16,64}$/;

export const leaseParameter = workspaceParameter.extend({
  lease: z.string().openapi({
    param: { name: 'lease', in: 'path' },
    pattern: leaseIdPattern.source,
    description: 'Chosen by the client, such as a UUID: new for each lease. Invalid ids get 422.',
    example: '0198c1a2-6f1b-7c3d-9e4f-5a6b7c8d9e0f',
  }),
});

export const syncParameter = workspaceParameter.extend({
  sync_id: z.string().openapi({
    param: { name: 'sync_id', in: 'path' },
    pattern: syncIdPattern.source,
    description: 'The sync_id that startSync returned.',
  }),
});

export const keyHeader = z.object({
  'Idempotency-Key': z.string().optional().openapi({
    minLength: 1,
    maxLength: maxKeyLength,
    pattern: keyPattern.source,
    description:
      'Any visible ASCII characters, new for each request. A request sent again with the same key is carried out once. Keys belong to a token, and are separate in each workspace.',
  }),
});
