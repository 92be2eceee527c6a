import { mkdir, readdir, rm } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import type { UsedStep } from '../support/workflow/used-action.ts';

/** The commit of the called workflow. */
export const ownCommit = '5f1c8a3de2b7946081f2c53a7d9e4b6081f2c53a';

/** The called workflow: a file of another repository than the caller's. */
export const ownSource = { repository: 'octo-org/workspace-automation', sha: ownCommit };

export interface Calling {
  /** Puts the files of the caller into the workspace. */
  readonly files?: (workspace: string) => Promise<void>;
}

/** GitHub as seen by a called workflow: its own repository and commit, and the refs of the checkouts of the caller. */
export function calledWorkflow({ files = async () => {} }: Calling = {}) {
  const checkouts: string[] = [];

  const checkOut = async (step: UsedStep): Promise<undefined> => {
    const { ref = '', 'persist-credentials': persists, ...others } = step.with;
    if (persists !== 'false') throw new Error('No step of ours needs the credentials of the checkout.');
    if ('repository' in others) throw new Error('A called workflow checks out only its caller.');
    const folder = await checkoutFolder(step);
    // If that repository is not cloned there yet, checkout empties the folder first.
    for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
    checkouts.push(ref);
    await files(folder);
  };

  return { source: ownSource, uses: { 'actions/checkout': checkOut }, checkouts };
}

/** The folder of the files of `actions/checkout`. A path outside of the workspace is rejected, as in the real one. */
async function checkoutFolder({ job, with: { path = '' } }: UsedStep): Promise<string> {
  const { workspace } = job.folders;
  const folder = resolve(workspace, path);
  if (folder !== workspace && !folder.startsWith(workspace + sep)) {
    throw new Error(`Repository path '${folder}' is not under '${workspace}'`);
  }
  await mkdir(folder, { recursive: true });
  return folder;
}
