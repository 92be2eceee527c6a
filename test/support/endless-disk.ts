import type { FreeDisk } from '../../src/service/runtime/free-disk.ts';

/** For tests and tools that do not depend on a disk. */
export const endlessDisk: FreeDisk = {
  isLow: () => false,
  reserve: 'nothing',
  space: () => ({ free: 1e15, size: 1e15 }),
  stop: async () => undefined,
};
