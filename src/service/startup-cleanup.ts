import type { Git } from './git/git.ts';
import { removeObjects, storedWorkspaces } from './lfs/object-store.ts';
import type { ServiceParts } from './parts.ts';
import { endAllClaims } from './runtime/claim.ts';
import { parseWorkspaceId } from './workspaces/workspace-id.ts';
import { allWorkspaces } from './workspaces/workspaces.ts';

/** Cleans up after earlier processes. Without workspaces, the database may be the wrong one: the mirrors then stay. */
export async function cleanUpAtStart(parts: Pick<ServiceParts, 'storage' | 'git' | 'dataFolder' | 'log'>) {
  const { storage, git, dataFolder, log } = parts;
  // The lock of the data folder ensures that no other service uses it, and with SQLite its database.
  if (storage.dialect === 'sqlite') await endAllClaims(storage);
  await git.removeLeftovers();
  // Listed before the workspaces: otherwise the folder of a new workspace could seem to have none.
  const stored = new Set([...(await git.listMirrors()), ...(await storedWorkspaces(dataFolder))]);
  const existing = (await allWorkspaces(storage.read)).map(({ id }) => id);
  // Anything else there is not of this service.
  const orphaned = [...stored.difference(new Set(existing))].filter((id) => parseWorkspaceId(id).ok);
  if (existing.length === 0 && orphaned.length > 0) {
    log.warn({ workspaces: orphaned }, 'kept the mirrors in the data folder, because the database has no workspaces');
    return;
  }
  for (const workspace of orphaned) await removeWorkspaceFiles(git, dataFolder, workspace);
  if (orphaned.length > 0) log.info({ workspaces: orphaned }, 'removed the mirrors of workspaces that no longer exist');
}

/** Files that remain after an error, such as those of another user, are removed at the next start. */
export async function removeWorkspaceFiles(
  git: Pick<Git, 'removeMirror'>,
  dataFolder: string,
  id: string,
): Promise<void> {
  try {
    await git.removeMirror(id);
  } finally {
    await removeObjects(dataFolder, id);
  }
}
