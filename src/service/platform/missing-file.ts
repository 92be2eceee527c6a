import { mkdir, readdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Undefined if the file or folder does not exist. */
export const unlessMissing = <T>(work: Promise<T>): Promise<T | undefined> =>
  work.catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });

export const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Empty if the folder does not exist. */
export const namesIn = async (folder: string): Promise<readonly string[]> =>
  (await unlessMissing(readdir(folder))) ?? [];

/** Creates the folder of the file only if the work fails without it: it is rarely missing. */
export const withFolderOf = <T>(file: string, work: () => Promise<T>): Promise<T> =>
  work().catch(async (error: unknown) => {
    if (!isMissing(error)) throw error;
    await mkdir(dirname(file), { recursive: true });
    return work();
  });
