import { cp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.ts';

export const root = join(import.meta.dirname, '../..');
export const dist = join(root, 'dist');

/** The files of `dist/`, relative to it, sorted by name. */
export async function filesOfDist(): Promise<readonly string[]> {
  const entries = await readdir(dist, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return files.map((file) => file.slice(dist.length + 1).replaceAll('\\', '/')).sort();
}

/** Whether the file is loaded only on demand. */
export const isChunk = (file: string): boolean => /(^|\/)(?!index\.js$)[\w-]+\.js$/.test(file);

export const readDist = (file: string): Promise<string> => readFile(join(dist, file), 'utf8');

/** A temporary copy of `dist/` to modify, removed at the end of the test. */
export async function copyOfDist(): Promise<string> {
  const folder = temporaryFolder();
  await cp(dist, folder, { recursive: true });
  return folder;
}

/** Removes all files except those loaded at the start. */
export async function removeChunks(folder: string): Promise<void> {
  for (const file of (await filesOfDist()).filter(isChunk)) await rm(join(folder, file));
}
