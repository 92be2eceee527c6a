import type { FreeDisk } from '../../src/service/runtime/free-disk.ts';

/** For tests and tools that do not depend on a disk. */
export const endlessDisk: FreeDisk = {
  isLow: () => false,
  reserve: 'nothing',
  measure: async () => undefined,
};
