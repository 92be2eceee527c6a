import { statfs } from 'node:fs/promises';
import type { Metrics } from './metrics.ts';

export type FreeDisk = Awaited<ReturnType<typeof measureFreeDisk>>;

/** The unit of --min-free-disk. */
const megabyte = 1_000_000;

/** Measured periodically, so that no request waits for a slow disk. With a minimum of 0, there is no reserve. */
export async function measureFreeDisk(folder: string, minBytes: number, metrics: Metrics) {
  let free = 0;
  async function measure(): Promise<void> {
    const { bavail, blocks, bsize } = await statfs(folder);
    free = bavail * bsize;
    metrics.freeDisk.set(free);
    metrics.diskSize.set(blocks * bsize);
  }
  await measure();
  return {
    /** Whether less than the reserve is free. New work is then refused, and work that frees space continues. */
    isLow: () => free < minBytes,
    reserve: `${Math.ceil(minBytes / megabyte)} MB`,
    measure,
  };
}
