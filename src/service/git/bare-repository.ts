import { access, mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type BranchName, branchRef } from './branch-name.ts';
import { type GitCommand, localLimits } from './git-command.ts';

export const isRepository = (folder: string): Promise<boolean> =>
  access(join(folder, 'HEAD')).then(
    () => true,
    () => false,
  );

export async function createBareRepository(git: GitCommand, folder: string): Promise<void> {
  await git(['init', '--quiet', '--bare', '--template=', '--initial-branch=main', '--end-of-options', folder], {
    purpose: `create a repository in ${folder}`,
    limits: localLimits,
  });
}

/** Puts a repository where it belongs, complete or not at all. One that got there first stays. */
export async function moveInto(fresh: string, folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  await rename(fresh, folder).catch(async (error: unknown) => {
    if (!(await isRepository(folder))) throw error;
  });
}

/** The commit that a repository on this disk has for the branch. */
export async function headOf(git: GitCommand, repository: string, branch: BranchName): Promise<string | undefined> {
  const head = await git(['for-each-ref', '--format=%(objectname)', branchRef(branch)], {
    purpose: `read the head of the branch ${branch} in ${repository}`,
    limits: localLimits,
    repository,
  });
  return head.trim() || undefined;
}
