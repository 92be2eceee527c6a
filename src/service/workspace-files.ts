import type { Git } from './git/git.ts';
import { listStores, removeStore, storeName } from './lfs/object-store.ts';
import type { ServiceParts } from './parts.ts';
import { endAllClaims } from './storage/claim.ts';
import { parseWorkspaceId } from './workspaces/workspace-id.ts';
import { findWorkspace } from './workspaces/workspaces.ts';

/** Cleans up after earlier processes. */
export async function cleanUpAtStart({ storage, git }: Pick<ServiceParts, 'storage' | 'git'>): Promise<void> {
  // The lock of the data folder excludes other services on it, and on SQLite also on its database.
  if (storage.dialect === 'sqlite') await endAllClaims(storage);
  await git.removeLeftovers();
}

/**
 * Removes the files of workspaces that another instance or process removed. Removes none if the database has no
 * workspaces, because it may be the wrong one.
 */
export async function removeOrphans({
  storage,
  git,
  dataFolder,
  stopping,
  log,
}: Pick<ServiceParts, 'storage' | 'git' | 'dataFolder' | 'stopping' | 'log'>): Promise<void> {
  // Listed before the workspaces. Otherwise, the folder of a new workspace could seem to belong to none.
  const [mirrors, stores] = [await git.listMirrors(), await listStores(dataFolder)];
  const existing = await storage.read.selectFrom('workspaces').select(['id', 'created_at']).execute();
  const [ids, names] = [new Set(existing.map(({ id }) => id)), new Set(existing.map(storeName))];
  // Other files in the folder do not belong to this service.
  const oldMirrors = mirrors.filter((id) => !ids.has(id) && parseWorkspaceId(id).ok);
  const oldStores = stores.filter(({ id, name }) => !names.has(name) && parseWorkspaceId(id).ok);
  const orphaned = [...new Set([...oldMirrors, ...oldStores.map(({ id }) => id)])];
  if (existing.length === 0 && orphaned.length > 0) {
    log.warn({ workspaces: orphaned }, 'kept the mirrors in the data folder, because the database has no workspaces');
    return;
  }
  for (const id of oldMirrors) {
    // A removal may take long, and the workspace may have been added again meanwhile.
    if (stopping.aborted) return;
    if ((await findWorkspace(storage.read, id)) === undefined) await git.removeMirror(id);
  }
  for (const { name } of oldStores) {
    if (stopping.aborted) return;
    await removeStore(dataFolder, name);
  }
  if (orphaned.length > 0) log.info({ workspaces: orphaned }, 'removed the mirrors of workspaces that no longer exist');
}

/** Files that remain after an error, such as files of another user, are removed by removeOrphans(). */
export async function removeWorkspaceFiles(
  git: Pick<Git, 'removeMirror'>,
  dataFolder: string,
  workspace: string,
): Promise<void> {
  try {
    await git.removeMirror(workspace);
  } finally {
    const stores = (await listStores(dataFolder)).filter(({ id }) => id === workspace);
    for (const { name } of stores) await removeStore(dataFolder, name);
  }
}
