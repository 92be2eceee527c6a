import type { Context } from 'hono';
import { noSuchWorkspace } from '../contract/problem.ts';
import { bearerOf, type Environment } from '../http/context.ts';
import type { Storage } from '../storage/storage.ts';
import { parseWorkspaceId } from './workspace-id.ts';
import { type FoundWorkspace, findVisibleWorkspace } from './workspaces.ts';

/** The workspace in the address of the request, if its token may see it. */
export async function addressedWorkspace(c: Context<Environment>, storage: Storage): Promise<FoundWorkspace> {
  const id = c.req.param('id') ?? '';
  // An id that cannot be one is not asked for: it may have characters that a database refuses.
  const workspace = parseWorkspaceId(id).ok ? await findVisibleWorkspace(storage, bearerOf(c), id) : undefined;
  if (workspace === undefined) throw noSuchWorkspace(id);
  return workspace;
}
