import type { Storage } from '../../storage/storage.ts';
import { parseWorkspaceId } from '../../workspaces/workspace-id.ts';
import { findWorkspace, listWorkspaces, type StoredWorkspace } from '../../workspaces/workspaces.ts';
import type { Argument } from '../command.ts';
import { didYouMean } from '../did-you-mean.ts';
import { Failure } from '../failure.ts';

export const workspaceArgument: Argument<string> = {
  placeholder: 'WORKSPACE',
  what: 'the id of the workspace',
  parse: parseWorkspaceId,
};

/** Fails with the ids that there are. */
export async function existingWorkspace({ read }: Storage, id: string): Promise<StoredWorkspace> {
  const workspace = await findWorkspace(read, id);
  if (workspace !== undefined) return workspace;
  const ids = (await listWorkspaces(read)).map((known) => known.id);
  const known = didYouMean(id, ids) || 'The command "workspace-service workspace list" shows those that there are. ';
  throw new Failure(`There is no workspace "${id}". ${known.trim()}`);
}
