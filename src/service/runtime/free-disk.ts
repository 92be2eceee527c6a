import { statfs } from 'node:fs/promises';
import { repeat } from './repeat.ts';

/** How much room the disk of the data folder has. */
export interface FreeDisk {
  /** There is less than the reserve: new work is refused, and what frees space goes on. */
  isLow(): boolean;
  /** In words, for error messages. */
  readonly reserve: string;
  stop(): Promise<void>;
}

export interface FreeDiskOptions {
  readonly folder: string;
  /** 0 keeps nothing free. */
  readonly minBytes: number;
  readonly onMeasured: (bytes: number) => void;
  readonly onError: (error: unknown) => void;
}

/** A disk of today takes longer than that to write the reserve that is there by default. */
const lookEveryMs = 500;

const mebibyte = 1_024 * 1_024;

/** Measures at an interval, so that no request waits for a slow disk. */
export async function watchFreeDisk({ folder, minBytes, onMeasured, onError }: FreeDiskOptions): Promise<FreeDisk> {
  let isLow = false;
  async function look(): Promise<void> {
    const { bavail, bsize } = await statfs(folder);
    onMeasured(bavail * bsize);
    isLow = bavail * bsize < minBytes;
  }
  await look();
  return {
    isLow: () => isLow,
    reserve: `${Math.ceil(minBytes / mebibyte)} MiB`,
    stop: repeat(lookEveryMs, look, onError),
  };
}

/** For tests and tools that do not depend on a disk. */
export const endlessDisk: FreeDisk = { isLow: () => false, reserve: 'nothing', stop: async () => undefined };
