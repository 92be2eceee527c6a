import { statfs } from 'node:fs/promises';
import { repeat } from './repeat.ts';

export type FreeDisk = Awaited<ReturnType<typeof watchFreeDisk>>;

interface FreeDiskOptions {
  readonly folder: string;
  /** 0 disables the reserve. */
  readonly minBytes: number;
  readonly onMeasured: (space: { readonly free: number; readonly size: number }) => void;
  readonly onError: (error: unknown) => void;
}

/** Current disks take longer than this to write the default reserve. */
const pollMs = 500;

/** As in --min-free-disk. */
const megabyte = 1_000_000;

/** Measures at an interval, so that no request waits for a slow disk. */
export async function watchFreeDisk({ folder, minBytes, onMeasured, onError }: FreeDiskOptions) {
  let free = 0;
  async function look(): Promise<void> {
    const { bavail, blocks, bsize } = await statfs(folder);
    free = bavail * bsize;
    onMeasured({ free, size: blocks * bsize });
  }
  await look();
  return {
    /** True if less than the reserve is free: new work is then refused, and work that frees space continues. */
    isLow: () => free < minBytes,
    reserve: `${Math.ceil(minBytes / megabyte)} MB`,
    stop: repeat(pollMs, look, onError),
  };
}
