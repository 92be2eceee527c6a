import { statfs } from 'node:fs/promises';
import { repeat } from './repeat.ts';

/** How much room the disk of the data folder has. */
export interface FreeDisk {
  /** There is less than is to be kept free: what is new has to wait, and what makes room goes on. */
  isLow(): boolean;
  /** In words, for whoever is refused. */
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

/** Looks now and then, so that no request waits for a disk that is slow to tell. */
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

/** For what does not depend on a disk. */
export const endlessDisk: FreeDisk = { isLow: () => false, reserve: 'nothing', stop: async () => undefined };
