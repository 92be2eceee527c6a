import { mkdir } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import type { UsedStep } from './used-action.ts';

/** The folder of the files of `actions/checkout`. A path outside of the workspace is rejected, as in the real one. */
export async function checkoutFolder({ job, with: { path = '' } }: UsedStep): Promise<string> {
  const { workspace } = job.folders;
  const folder = resolve(workspace, path);
  if (folder !== workspace && !folder.startsWith(workspace + sep)) {
    throw new Error(`Repository path '${folder}' is not under '${workspace}'`);
  }
  await mkdir(folder, { recursive: true });
  return folder;
}
