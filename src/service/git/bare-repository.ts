import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type BranchName, branchRef } from './branch-name.ts';
import { type GitCommand, localLimits } from './git-command.ts';
import { inScratchFolder } from './scratch.ts';

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

/**
 * What git takes for an empty repository: gitrepository-layout(5). For one that is removed again in a moment, starting git
 * to make it, and to say what is in it, takes a noticeable part of a sync.
 */
export async function layOutRepository(folder: string): Promise<void> {
  for (const part of ['objects/info', 'objects/pack', 'refs/heads'])
    await mkdir(join(folder, part), { recursive: true });
  await writeFile(join(folder, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = true\n');
  await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
}

/** The commit that a branch has which was fetched into a repository laid out here: a file, as long as nobody packs it. */
export async function fetchedHead(folder: string, branch: BranchName): Promise<string | undefined> {
  const head = await readFile(join(folder, branchRef(branch)), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return head.trim() || undefined;
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

/** A bare repository that holds what was fetched from a remote, and keeps it. */
export interface Mirror {
  readonly repository: string;
  /** Where work in progress is kept: on the same disk, so that what is done can be moved in at once. */
  readonly scratch: string;
}

/** Creates the mirror where there is none, also when several do this at once. */
export async function openMirror(git: GitCommand, mirror: Mirror): Promise<Mirror> {
  if (await isRepository(mirror.repository)) return mirror;
  await inScratchFolder(mirror.scratch, async (folder) => {
    const fresh = join(folder, 'mirror.git');
    await createBareRepository(git, fresh);
    await moveInto(fresh, mirror.repository);
  });
  return mirror;
}
