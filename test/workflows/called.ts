import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { UsedStep } from './job-runner.ts';

export interface Calling {
  /** Puts the files of the caller into the workspace. */
  readonly files?: (workspace: string) => Promise<void>;
}

/** GitHub as seen by a called workflow: the refs of the checkouts of the caller. */
export function calledWorkflow({ files = async () => {} }: Calling = {}) {
  const checkouts: string[] = [];

  const checkOut = async ({ job, with: given }: UsedStep): Promise<void> => {
    if (given['persist-credentials'] !== 'false') throw new Error('No step of ours needs the credentials.');
    if ('repository' in given || 'path' in given) throw new Error('A called workflow checks out its caller in place.');
    const { workspace } = job.folders;
    // If that repository is not cloned there yet, checkout empties the folder first.
    for (const name of await readdir(workspace)) await rm(join(workspace, name), { recursive: true });
    checkouts.push(given['ref'] ?? '');
    await files(workspace);
  };

  return { uses: { 'actions/checkout': checkOut }, checkouts };
}
