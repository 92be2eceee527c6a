import { existsSync, readdirSync } from 'node:fs';
import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BranchName } from '../../interface/branch-name.ts';

export type BranchHeads = ReadonlyMap<BranchName, string>;

/** The brand exists only at compile time. */
export const mainBranch = 'main' as BranchName;

export const branchRef = (branch: BranchName): string => `refs/heads/${branch}`;

/** A bare repository with everything that was fetched from a remote. Fetched objects are never removed. */
export interface Mirror {
  readonly repository: string;
  /** Folder for work in progress, on the same disk so that results can be renamed into place. */
  readonly scratch: string;
}

/** Creates the repository if it is missing or incomplete. Several processes may do it at once. */
export async function ensureRepository({ repository, scratch }: Mirror): Promise<void> {
  if (await isRepository(repository)) return;
  // On a read-only disk, only the scratch folder has the right error: Node says that the parents of others are missing.
  await withScratchFolder(scratch, async (folder) => {
    await createFolders(repository);
    for (const [name, text] of Object.entries({ config, HEAD: headOf(mainBranch) })) {
      await writeFile(join(folder, name), text, { flush: true });
      await rename(join(folder, name), join(repository, name));
    }
  });
}

/**
 * Creates a repository without refs, which reads objects from the mirror as well, but writes into its own folder. Running
 * git for it takes longer.
 */
export async function createRepository(folder: string, mirror?: Mirror, defaultBranch = mainBranch): Promise<void> {
  await createFolders(folder);
  await writeFile(join(folder, 'config'), config);
  await writeFile(join(folder, 'HEAD'), headOf(defaultBranch));
  if (mirror === undefined || !(await isRepository(mirror.repository))) return;
  await writeFile(join(folder, 'objects', 'info', 'alternates'), `${join(mirror.repository, 'objects')}\n`);
}

/** Required parts of a repository: gitrepository-layout(5). */
const parts = ['HEAD', 'objects', 'refs'];

const config = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n';
const headOf = (branch: BranchName): string => `ref: ${branchRef(branch)}\n`;

export const isRepository = (folder: string): Promise<boolean> =>
  Promise.all(parts.map((part) => access(join(folder, part)))).then(
    () => true,
    () => false,
  );

async function createFolders(repository: string): Promise<void> {
  for (const part of ['objects/info', 'objects/pack', 'refs/heads'])
    await mkdir(join(repository, part), { recursive: true });
}

/** Runs the work with a temporary folder in `parent`, and removes the folder when the work ends or fails. */
export async function withScratchFolder<T>(parent: string, work: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, 'work-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Temporary packs of git, marks of packs of a fetch that has not ended, and locks of refs. */
const leftovers = [
  ['objects/pack', /^(?:\.tmp-|tmp_)|\.keep$/],
  ['refs/fetched', /\.lock$/],
] as const;

/** Removes what a git that was killed or has failed left in a repository that none is writing into. */
export async function removeLeftovers(repository: string): Promise<void> {
  const files = leftovers.flatMap(([folder, pattern]) => {
    const path = join(repository, folder);
    // Listed before any other work can start.
    const names = existsSync(path) ? readdirSync(path) : [];
    return names.filter((name) => pattern.test(name)).map((name) => join(path, name));
  });
  for (const file of files) await rm(file, { force: true });
}
