import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checkOutAction, checkoutFolder } from '../support/workflow/checkouts.ts';
import type { WorkflowJobOptions } from '../support/workflow/job-runner.ts';
import type { UsedStep } from '../support/workflow/used-action.ts';

/** The commit of the called workflow. */
export const ownCommit = '5f1c8a3de2b7946081f2c53a7d9e4b6081f2c53a';

export interface Calling {
  /** The `job` context with the called workflow; empty for a server without it. */
  readonly own?: Readonly<Record<string, string>>;
  /** Puts the files of the caller into the workspace. */
  readonly files?: (workspace: string) => Promise<void>;
}

/** The checkouts so far: the repository of the action or `caller`, each with its version. */
export interface CalledWorkflow extends Pick<WorkflowJobOptions, 'contexts' | 'uses'> {
  readonly checkouts: readonly string[];
}

/** GitHub as seen by a called workflow: the contexts of the called file, and checkouts of both repositories. */
export function calledWorkflow({
  own = { workflow_repository: 'octo-org/workspace-automation', workflow_sha: ownCommit },
  files = async () => {},
}: Calling = {}): CalledWorkflow {
  const checkouts: string[] = [];

  const checkOut = async (step: UsedStep): Promise<undefined> => {
    const { repository = '', ref = '', 'persist-credentials': persists } = step.with;
    if (persists !== 'false') throw new Error('No step of ours needs the credentials of the checkout.');
    const folder = await checkoutFolder(step);
    // If that repository is not cloned there yet, checkout empties the folder first.
    for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
    checkouts.push([repository === '' ? 'caller' : repository, ref].join('@'));
    await (repository === '' ? files(folder) : checkOutAction(folder, step.with));
  };

  return { contexts: { job: own }, uses: { 'actions/checkout': checkOut }, checkouts };
}
