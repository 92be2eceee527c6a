import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { unlessMissing } from '../platform/missing-file.ts';
import { type BranchName, branchRef } from './branch-name.ts';
import { type GitCommand, localLimits } from './git-command.ts';
import { withScratchFolder } from './scratch.ts';

/** A bare repository with everything that was fetched from a remote. Fetched objects are never removed. */
export interface Mirror {
  readonly repository: string;
  /** Folder for work in progress, on the same disk so that results can be renamed into place. */
  readonly scratch: string;
}

/**
 * Creates the repository if it is missing. This is atomic, also when several processes do it at once. Anything else at
 * its path, such as a broken repository, is replaced.
 */
export async function ensureRepository(
  git: GitCommand,
  { repository, scratch }: Mirror,
  fill: (fresh: string) => Promise<unknown> = async () => undefined,
): Promise<void> {
  if (await isRepository(repository)) return;
  await withScratchFolder(scratch, async (folder) => {
    const fresh = join(folder, 'fresh.git');
    await git(['init', '--quiet', '--bare', '--template=', '--initial-branch=main', '--end-of-options', fresh], {
      purpose: `create a repository in ${fresh}`,
      limits: localLimits,
    });
    await fill(fresh);
    await mkdir(dirname(repository), { recursive: true });
    await rename(fresh, repository).catch(async (error: unknown) => {
      // Another process has created it.
      if (await isRepository(repository)) return;
      await rename(repository, join(folder, 'broken.git')).catch(() => {
        throw error;
      });
      await rename(fresh, repository);
    });
  });
}

/** Writes the minimal files of a repository without refs: gitrepository-layout(5). Running git for it takes longer. */
export async function createEmptyRepository(folder: string, head = 'ref: refs/heads/main\n'): Promise<void> {
  for (const part of ['objects/info', 'objects/pack', 'refs/heads'])
    await mkdir(join(folder, part), { recursive: true });
  await writeFile(join(folder, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = true\n');
  await writeFile(join(folder, 'HEAD'), head);
}

/** Creates a repository without refs that reads its objects from the mirror, but writes into its own folder. */
export async function createBorrowingRepository(folder: string, mirror: Mirror): Promise<void> {
  const head = await readHead(mirror.repository);
  await createEmptyRepository(folder, head);
  if (head === undefined) return;
  await writeFile(join(folder, 'objects', 'info', 'alternates'), `${join(mirror.repository, 'objects')}\n`);
}

/** Sets the default branch of the mirror, even if the mirror does not have that branch. */
export async function setDefaultBranch(git: GitCommand, mirror: Mirror, branch: BranchName): Promise<void> {
  const { repository, scratch } = mirror;
  await ensureRepository(git, mirror);
  const head = `ref: ${branchRef(branch)}\n`;
  if ((await readHead(repository)) === head) return;
  await withScratchFolder(scratch, async (folder) => {
    await writeFile(join(folder, 'HEAD'), head);
    await rename(join(folder, 'HEAD'), join(repository, 'HEAD'));
  });
}

/** Required parts of a repository: gitrepository-layout(5). */
const parts = ['HEAD', 'objects', 'refs'];

export const isRepository = (folder: string): Promise<boolean> =>
  Promise.all(parts.map((part) => access(join(folder, part)))).then(
    () => true,
    () => false,
  );

/** Content of the file HEAD, which names the default branch; undefined without a repository. */
const readHead = (folder: string): Promise<string | undefined> => unlessMissing(readFile(join(folder, 'HEAD'), 'utf8'));
