import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { type LockPath, lockPathFromUrl } from '../../interface/lock-path.ts';
import type { Storage } from '../storage/storage.ts';
import { syncIdPattern } from '../syncs/queue.ts';
import { maxWorkspaceIdLength, parseWorkspaceId, workspaceIdPattern } from '../workspaces/workspace-id.ts';
import { findVisibleWorkspace, type StoredWorkspace } from '../workspaces/workspaces.ts';
import type { Environment } from './environment.ts';
import { bearerOf } from './operation.ts';
import { lastSegment } from './raw-target.ts';
import { invalid, noSuchWorkspace } from './refusal.ts';
import { describedLockPath } from './schemas.ts';

export const workspaceParameter = z.object({
  id: z.string().openapi({
    param: { name: 'id', in: 'path' },
    minLength: 1,
    maxLength: maxWorkspaceIdLength,
    pattern: workspaceIdPattern.source,
    description: 'The id of the workspace. What cannot be one is 404, like one that the token cannot see.',
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

export const syncParameter = workspaceParameter.extend({
  sync_id: z.string().openapi({
    param: { name: 'sync_id', in: 'path' },
    pattern: syncIdPattern.source,
    description: 'As startSync answered it.',
  }),
});

/** The workspace that the request addresses, if its token may know of it. */
export async function addressedWorkspace(c: Context<Environment>, storage: Storage): Promise<StoredWorkspace> {
  const id = c.req.param('id') ?? '';
  // An id that cannot be one is not asked for: it may have characters that a database refuses.
  const workspace = parseWorkspaceId(id).ok ? await findVisibleWorkspace(storage, bearerOf(c), id) : undefined;
  if (workspace === undefined) throw noSuchWorkspace(id);
  return workspace;
}

/** From the path as it was sent: a decoded one no longer tells which slashes were meant as such. */
export function addressedLockPath(c: Context<Environment>): LockPath {
  const path = lockPathFromUrl(lastSegment(c.req.path));
  if (!path.ok) throw invalid({ pointer: '#/path', detail: path.why });
  return path.value;
}
