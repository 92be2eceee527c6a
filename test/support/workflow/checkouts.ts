import { cp, mkdir } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { ourActionFile } from '../runner/action-file.ts';
import type { UsedStep } from './used-action.ts';

/** Where `actions/checkout` puts its files. It refuses a path outside of the workspace, as the real one does. */
export async function checkoutFolder({ job, with: { path = '' } }: UsedStep): Promise<string> {
  const { workspace } = job.folders;
  const folder = resolve(workspace, path);
  if (folder !== workspace && !folder.startsWith(workspace + sep)) {
    throw new Error(`Repository path '${folder}' is not under '${workspace}'`);
  }
  await mkdir(folder, { recursive: true });
  return folder;
}

/** Puts into a folder what a runner needs of this repository for `uses:`. */
export async function putActionInto(folder: string): Promise<void> {
  await cp(ourActionFile, join(folder, 'action.yml'));
  await cp(join(dirname(ourActionFile), 'dist'), join(folder, 'dist'), { recursive: true });
}
