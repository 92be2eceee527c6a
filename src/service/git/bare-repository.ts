import { existsSync, readdirSync } from 'node:fs';
import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BranchName } from '../../interface/branch-name.ts';

export type BranchHeads = ReadonlyMap<BranchName, string>;

/** The brand exists only at compile time. */
export const mainBranch = 'main' as BranchName;

export const branchRef = (branch: BranchName): string => `refs/heads/${branch}`;

/** A bare repository with everything that was ever fetched from a remote. Fetched objects are never removed. */
export interface Mirror {
  readonly repository: string;
  /** Folder for work in progress, on the same disk so that results can be renamed into place. */
  readonly scratch: string;
}

/** Creates the repository if it is missing or incomplete. Several processes may do it at once. */
export async function ensureRepository({ repository, scratch }: Mirror): Promise<void> {
  if (await isRepository(repository)) return;
  // First the scratch folder: on a read-only disk, Node reports the others as missing.
  await withScratchFolder(scratch, async (folder) => {
    await createFolders(repository);
    for (const [name, text] of Object.entries({ config, HEAD: headOf(mainBranch) })) {
      await writeFile(join(folder, name), text, { flush: true });
      await rename(join(folder, name), join(repository, name));
    }
  });
}

/**
 * Creates a repository without refs. It also reads objects from the mirror, but writes only into its own folder. Done
 * without git, whose start takes longer.
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

/** Temporary packs of git, marks of the packs of unfinished fetches, and locks of refs. */
const leftovers = [
  ['objects/pack', /^(?:\.tmp-|tmp_)|\.keep$/],
  ['refs/fetched', /\.lock$/],
] as const;

/** Removes the leftovers of a git that was killed or failed, in a repository that nothing else is writing to. */
export async function removeLeftovers(repository: string): Promise<void> {
  const files = leftovers.flatMap(([folder, pattern]) => {
    const path = join(repository, folder);
    // Synchronous, so that the list is read before any other work can start.
    const names = existsSync(path) ? readdirSync(path) : [];
    return names.filter((name) => pattern.test(name)).map((name) => join(path, name));
  });
  for (const file of files) await rm(file, { force: true });
}
