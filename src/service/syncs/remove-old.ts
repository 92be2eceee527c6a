import { removeOld } from '../storage/remove-old.ts';
import type { Storage } from '../storage/storage.ts';

/** Long after whoever asked for it has looked how it ended. */
const keptForMs = 90 * 24 * 60 * 60 * 1_000;

export const removeOldSyncs = (storage: Storage): Promise<void> =>
  removeOld(storage, { table: 'syncs', time: 'finished_at', keptForMs });
