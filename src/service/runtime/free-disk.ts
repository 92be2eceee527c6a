import { statfs } from 'node:fs/promises';
import { repeat } from './repeat.ts';

/** Sizes in bytes. */
export interface DiskSpace {
  readonly free: number;
  readonly size: number;
}

/** Free space on the disk of the data folder. */
export interface FreeDisk {
  /** True if less than the reserve is free: new work is then refused, and work that frees space continues. */
  isLow(): boolean;
  /** Text for error messages. */
  readonly reserve: string;
  /** Last measurement. */
  space(): DiskSpace;
  stop(): Promise<void>;
}

/** For tests and tools that do not depend on a disk. */
export const endlessDisk: FreeDisk = {
  isLow: () => false,
  reserve: 'nothing',
  space: () => ({ free: 1e15, size: 1e15 }),
  stop: async () => undefined,
};

export interface FreeDiskOptions {
  readonly folder: string;
  /** 0 disables the reserve. */
  readonly minBytes: number;
  readonly onMeasured: (space: DiskSpace) => void;
  readonly onError: (error: unknown) => void;
}

/** Current disks take longer than this to write the default reserve. */
const lookEveryMs = 500;

const mebibyte = 1_024 * 1_024;

/** Measures at an interval, so that no request waits for a slow disk. */
export async function watchFreeDisk({ folder, minBytes, onMeasured, onError }: FreeDiskOptions): Promise<FreeDisk> {
  async function measure(): Promise<DiskSpace> {
    const { bavail, blocks, bsize } = await statfs(folder);
    const measured = { free: bavail * bsize, size: blocks * bsize };
    onMeasured(measured);
    return measured;
  }
  let space = await measure();
  async function look(): Promise<void> {
    space = await measure();
  }
  return {
    isLow: () => space.free < minBytes,
    space: () => space,
    reserve: `${Math.ceil(minBytes / mebibyte)} MiB`,
    stop: repeat(lookEveryMs, look, onError),
  };
}
