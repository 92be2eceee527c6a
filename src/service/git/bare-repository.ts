import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '../platform/missing-file.ts';
import { type BranchName, branchRef } from './branch-name.ts';
import { withScratchFolder } from './scratch.ts';

/** A bare repository with everything that was fetched from a remote. Fetched objects are never removed. */
export interface Mirror {
  readonly repository: string;
  /** Folder for work in progress, on the same disk so that results can be renamed into place. */
  readonly scratch: string;
}

/** Creates the repository if it is missing or incomplete. Several processes may do it at once. */
export async function ensureRepository(mirror: Mirror): Promise<void> {
  if (await isRepository(mirror.repository)) return;
  await replaceFiles(mirror, { config, HEAD: mainHead }, () => createFolders(mirror.repository));
}

/** Creates a repository without refs. Running git for it takes longer. */
export async function createEmptyRepository(folder: string, head = mainHead): Promise<void> {
  await createFolders(folder);
  await writeFile(join(folder, 'config'), config);
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
export async function setDefaultBranch(mirror: Mirror, branch: BranchName): Promise<void> {
  await ensureRepository(mirror);
  const head = `ref: ${branchRef(branch)}\n`;
  if ((await readHead(mirror.repository)) !== head) await replaceFiles(mirror, { HEAD: head });
}

/** Required parts of a repository: gitrepository-layout(5). */
const parts = ['HEAD', 'objects', 'refs'];

const config = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n';
const mainHead = 'ref: refs/heads/main\n';

export const isRepository = (folder: string): Promise<boolean> =>
  Promise.all(parts.map((part) => access(join(folder, part)))).then(
    () => true,
    () => false,
  );

async function createFolders(repository: string): Promise<void> {
  for (const part of ['objects/info', 'objects/pack', 'refs/heads'])
    await mkdir(join(repository, part), { recursive: true });
}

/** On a read-only disk, only the scratch folder has the right error: Node says that the parents of others are missing. */
const replaceFiles = (
  { repository, scratch }: Mirror,
  files: Readonly<Record<string, string>>,
  prepare: () => Promise<void> = async () => undefined,
): Promise<void> =>
  withScratchFolder(scratch, async (folder) => {
    await prepare();
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(folder, name), text, { flush: true });
      await rename(join(folder, name), join(repository, name));
    }
  });

/** Content of the file HEAD, which names the default branch; undefined without a repository. */
const readHead = (folder: string): Promise<string | undefined> => unlessMissing(readFile(join(folder, 'HEAD'), 'utf8'));
