import { statfs } from 'node:fs/promises';

export type FreeDisk = Awaited<ReturnType<typeof measureFreeDisk>>;

interface FreeDiskOptions {
  readonly folder: string;
  /** 0 disables the reserve. */
  readonly minBytes: number;
  readonly onMeasured: (space: { readonly free: number; readonly size: number }) => void;
}

/** As in --min-free-disk. */
const megabyte = 1_000_000;

/** Measured at an interval, so that no request waits for a slow disk. */
export async function measureFreeDisk({ folder, minBytes, onMeasured }: FreeDiskOptions) {
  let free = 0;
  async function measure(): Promise<void> {
    const { bavail, blocks, bsize } = await statfs(folder);
    free = bavail * bsize;
    onMeasured({ free, size: blocks * bsize });
  }
  await measure();
  return {
    /** True if less than the reserve is free: new work is then refused, and work that frees space continues. */
    isLow: () => free < minBytes,
    reserve: `${Math.ceil(minBytes / megabyte)} MB`,
    measure,
  };
}
