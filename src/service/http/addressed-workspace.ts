import type { Context } from 'hono';
import { noSuchWorkspace } from '../contract/problem.ts';
import type { Storage } from '../storage/storage.ts';
import { maySee } from '../tokens/tokens.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { type FoundWorkspace, workspaceWithId } from '../workspaces/workspaces.ts';
import { bearerOf, type Environment } from './context.ts';

/** The workspace in the path of the request. Throws if the token may not see it. */
export async function addressedWorkspace(c: Context<Environment>, storage: Storage): Promise<FoundWorkspace> {
  const id = c.req.param('id') ?? '';
  // Invalid ids are not passed to the database, which may reject some characters.
  const isVisible = parseWorkspaceId(id).ok && maySee(bearerOf(c), id);
  const workspace = isVisible ? await workspaceWithId(storage, id) : undefined;
  if (workspace === undefined) throw noSuchWorkspace(id);
  return workspace;
}
