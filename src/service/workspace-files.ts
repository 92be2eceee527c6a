import { listStores, removeStore, storeName } from './lfs/object-store.ts';
import type { ServiceParts } from './parts.ts';
import { parseWorkspaceId } from './workspaces/workspace-id.ts';
import { findWorkspace } from './workspaces/workspaces.ts';

/** Removes the files of removed workspaces from the data folder, which belongs to this database. */
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
  for (const id of oldMirrors) {
    // A removal may take long, and the workspace may have been added again meanwhile.
    if (stopping.aborted) return;
    if ((await findWorkspace(storage.read, id)) === undefined) await git.removeMirror(id);
  }
  for (const { name } of oldStores) {
    if (stopping.aborted) return;
    await removeStore(dataFolder, name);
  }
  const workspaces = [...new Set([...oldMirrors, ...oldStores.map(({ id }) => id)])];
  if (workspaces.length > 0) log.info({ workspaces }, 'removed the mirrors of workspaces that no longer exist');
}
