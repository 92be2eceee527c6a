import type { Context } from 'hono';
import { noSuchWorkspace } from '../contract/problem.ts';
import { bearerOf, type Environment } from '../http/context.ts';
import type { Storage } from '../storage/storage.ts';
import { parseWorkspaceId } from './workspace-id.ts';
import { type FoundWorkspace, findVisibleWorkspace } from './workspaces.ts';

/** The workspace in the path of the request. Throws if the token may not see it. */
export async function addressedWorkspace(c: Context<Environment>, storage: Storage): Promise<FoundWorkspace> {
  const id = c.req.param('id') ?? '';
  // Invalid ids are not passed to the database, which may reject some characters.
  const workspace = parseWorkspaceId(id).ok ? await findVisibleWorkspace(storage, bearerOf(c), id) : undefined;
  if (workspace === undefined) throw noSuchWorkspace(id);
  return workspace;
}
