import { statfs } from 'node:fs/promises';
import { repeat } from './repeat.ts';

export type FreeDisk = Awaited<ReturnType<typeof watchFreeDisk>>;

type DiskSpace = Awaited<ReturnType<typeof measure>>;

interface FreeDiskOptions {
  readonly folder: string;
  /** 0 disables the reserve. */
  readonly minBytes: number;
  readonly onMeasured: (space: DiskSpace) => void;
  readonly onError: (error: unknown) => void;
}

/** Current disks take longer than this to write the default reserve. */
const pollMs = 500;

const mebibyte = 1_024 * 1_024;

/** Measures at an interval, so that no request waits for a slow disk. */
export async function watchFreeDisk({ folder, minBytes, onMeasured, onError }: FreeDiskOptions) {
  let space = { free: 0, size: 0 };
  async function look(): Promise<void> {
    space = await measure(folder);
    onMeasured(space);
  }
  await look();
  return {
    /** True if less than the reserve is free: new work is then refused, and work that frees space continues. */
    isLow: () => space.free < minBytes,
    space: () => space,
    reserve: `${Math.ceil(minBytes / mebibyte)} MiB`,
    stop: repeat(pollMs, look, onError),
  };
}

async function measure(folder: string) {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, size: blocks * bsize };
}
