import { readdir, rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { inScratchFolder } from '../git/scratch.ts';
import { workspaceFolder, workspaceOfFolder } from '../platform/workspace-folder.ts';
import { objectsFolder } from './object-store.ts';

const unlessMissing =
  <T>(otherwise: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return otherwise;
    throw error;
  };

/** Removes the objects of a workspace that was removed: out of sight at once. */
export async function forgetObjects(dataFolder: string, workspace: string): Promise<void> {
  await inScratchFolder(join(resolve(dataFolder), 'scratch'), async (folder) => {
    const objects = join(objectsFolder(dataFolder), workspaceFolder(workspace));
    await rename(objects, join(folder, 'objects')).catch(unlessMissing(undefined));
  });
}

/** Those of all workspaces that no longer exist. They are listed when the folders are known, as with mirrors. */
export async function forgetObjectsOfAllBut(
  dataFolder: string,
  existing: () => Promise<readonly string[]>,
): Promise<void> {
  const folders = await readdir(objectsFolder(dataFolder)).catch(unlessMissing<string[]>([]));
  if (folders.length === 0) return;
  const ids = new Set(await existing());
  for (const workspace of folders.map(workspaceOfFolder)) {
    if (workspace !== undefined && !ids.has(workspace)) await forgetObjects(dataFolder, workspace);
  }
}
