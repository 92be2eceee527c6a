import { readdir } from 'node:fs/promises';
import { errorCode } from '../../interface/system-errors.ts';

/** Undefined if the file or folder does not exist. */
export const unlessMissing = <T>(work: Promise<T>): Promise<T | undefined> =>
  work.catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });

/** Empty if the folder does not exist. */
export const namesIn = async (folder: string): Promise<readonly string[]> =>
  (await unlessMissing(readdir(folder))) ?? [];
